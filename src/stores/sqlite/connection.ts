/** One connection with its prepared statements. */

import type { Database, SqlValue, Statement } from '../sqlite-driver.ts'

export interface Connection {
  exec(sql: string): void
  /** Answers how many rows changed. */
  run(sql: string, ...values: SqlValue[]): number
  /** The caller says what the row looks like: the SQL stands beside it. */
  one<Row>(sql: string, ...values: SqlValue[]): Row | undefined
  all<Row>(sql: string, ...values: SqlValue[]): Row[]
  close(): void
}

/** Every distinct text is prepared once, so it must not carry values. */
export function createConnection(db: Database): Connection {
  const statements = new Map<string, Statement>()
  const prepared = (sql: string): Statement => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = db.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
  return {
    exec: (sql) => {
      db.exec(sql)
    },
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    one: <Row>(sql: string, ...values: SqlValue[]) => prepared(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: SqlValue[]) => prepared(sql).all(...values) as Row[],
    close: () => {
      statements.clear()
      db.close()
    },
  }
}
