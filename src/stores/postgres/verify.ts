/** The invariants of the PostgreSQL store, counted anew from its rows on one snapshot. */

import type { Connection } from './connection.ts'
import { DONE, FAILED, PENDING, SKIPPED, TOTAL } from './schema.ts'
import type { Session } from './session.ts'

/** Live rows only: those of a cleared task that is not swept yet are nobody's. */
const LIVE = `@requests r JOIN @queues q ON q.id = r.queue_id JOIN @tasks t ON t.id = q.task_id AND t.name IS NOT NULL`

const LEVEL = `CASE WHEN t.settings::json ->> 'order' = 'dfs' THEN 0 - r.depth ELSE r.depth END`

/** Each answers `what` for every row that breaks it; the sentence is made of it. */
const CHECKS: readonly { readonly sql: string; readonly sentence: (what: string) => string }[] = [
  {
    sql: `SELECT r.url AS what FROM ${LIVE}
      LEFT JOIN @ready y ON y.queue_id = coalesce(r.hop_queue, r.queue_id) AND y.id = r.id
        AND y.urgency = 0 - r.priority AND y.level = ${LEVEL}
      LEFT JOIN @delayed d ON d.id = r.id LEFT JOIN @leases l ON l.id = r.id
      WHERE r.state = ${PENDING} AND (y.id IS NOT NULL)::int + (d.id IS NOT NULL)::int + (l.id IS NOT NULL)::int <> 1`,
    sentence: (what) => `${what} is pending, but not in exactly one of queue, delay and lease`,
  },
  {
    sql: `SELECT y.id AS what FROM @ready y JOIN @queues q ON q.id = y.queue_id
      JOIN @tasks t ON t.id = q.task_id AND t.name IS NOT NULL
      LEFT JOIN @requests r ON r.id = y.id WHERE r.state IS DISTINCT FROM ${PENDING}`,
    sentence: (what) => `Request ${what} is in a queue, but not pending`,
  },
  {
    sql: `SELECT q.id AS what FROM @queues q JOIN @tasks t ON t.id = q.task_id AND t.name IS NOT NULL
      LEFT JOIN (SELECT queue_id, count(*) AS n FROM @ready GROUP BY 1) y ON y.queue_id = q.id
      WHERE q.ready <> coalesce(y.n, 0)`,
    sentence: (what) => `Queue ${what} counts other requests than it holds`,
  },
  {
    sql: `SELECT DISTINCT q.id AS what FROM @ready y JOIN @queues q ON q.id = y.queue_id
      JOIN @tasks t ON t.id = q.task_id AND t.name IS NOT NULL
      WHERE (y.urgency, y.level, y.id) < (q.head_urgency, q.head_level, q.head_id)`,
    sentence: (what) => `Queue ${what} holds a request that comes before its head`,
  },
  {
    sql: `SELECT d.id AS what FROM (SELECT id FROM @leases UNION ALL SELECT id FROM @delayed) d
      LEFT JOIN @requests r ON r.id = d.id WHERE r.state IS DISTINCT FROM ${PENDING}`,
    sentence: (what) => `Request ${what} is leased or delayed, but not pending`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} LEFT JOIN @failed f ON f.id = r.id
      WHERE (r.state = ${FAILED}) <> (f.id IS NOT NULL)`,
    sentence: (what) => `${what} is failed and not in the list of failed requests, or the other way round`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} LEFT JOIN @requests a ON a.id = r.alias_of
      WHERE r.alias_of IS NOT NULL AND (r.state <> ${SKIPPED} OR a.id IS NULL)`,
    sentence: (what) => `${what} is an alias, but not skipped, or of a request that is not there`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} LEFT JOIN @requests p ON p.id = r.parent
      WHERE r.parent IS NOT NULL AND p.id IS NULL`,
    sentence: (what) => `The parent of ${what} is not there`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE}
      LEFT JOIN (SELECT request_id, count(*) AS n FROM @items GROUP BY 1) i ON i.request_id = r.id
      WHERE r.item_count <> coalesce(i.n, 0)`,
    sentence: (what) => `${what} does not have the items that it counts`,
  },
  {
    sql: `SELECT t.name AS what FROM @tasks t
      LEFT JOIN (SELECT task_id, count(*) AS n, max(seq) AS last FROM @items GROUP BY 1) i ON i.task_id = t.id
      LEFT JOIN (SELECT task_id, sum(n) AS n FROM @counts WHERE kind = 'items' GROUP BY 1) c ON c.task_id = t.id
      LEFT JOIN @places p ON p.task_id = t.id
      WHERE t.name IS NOT NULL AND (coalesce(i.n, 0) <> coalesce(c.n, 0) OR coalesce(i.last, 0) > p.last_seq)`,
    sentence: (what) => `Task ${what} counts other items than it has`,
  },
  {
    sql: `SELECT h.key AS what FROM @hosts h
      LEFT JOIN (SELECT q.host_id, count(*) AS n FROM @leases l JOIN @queues q ON q.id = l.queue_id
        WHERE l.leased_at >= 0 GROUP BY 1) l
      ON l.host_id = h.id WHERE h.in_flight <> coalesce(l.n, 0)`,
    sentence: (what) => `Host ${what} counts other requests in flight than are leased`,
  },
]

const MAX_PROBLEMS_OF_A_KIND = 20
/** Every row is looked at. */
const TIMEOUT_MS = 3600 * 1000

/** Here the plans that read whole tables are the right ones. */
const BEGIN = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on;
  SET LOCAL join_collapse_limit = 8; SET LOCAL from_collapse_limit = 8`

const STATE = `CASE r.state WHEN ${DONE} THEN 'done' WHEN ${FAILED} THEN 'failed' WHEN ${SKIPPED} THEN 'skipped'
  ELSE CASE WHEN l.id IS NULL THEN 'pending' ELSE 'leased' END END`

const COUNTS = `WITH found AS (
    SELECT t.id AS task, ${STATE} AS kind, r.depth, r.reason FROM ${LIVE} LEFT JOIN @leases l ON l.id = r.id),
  truth AS (
    SELECT task, kind, depth, count(*) AS n FROM found GROUP BY 1, 2, 3
    UNION ALL SELECT task, kind, ${TOTAL}, count(*) FROM found GROUP BY 1, 2
    UNION ALL SELECT task, 'skipped:' || reason, ${TOTAL}, count(*) FROM found WHERE kind = 'skipped' GROUP BY 1, 2),
  kept AS (SELECT task_id AS task, kind, depth, sum(n) AS n FROM @counts
    WHERE kind IN ('pending', 'leased', 'done', 'failed') OR kind LIKE 'skipped%' GROUP BY 1, 2, 3)
  SELECT t.name, kind, depth, coalesce(k.n, 0)::text AS counted, coalesce(f.n, 0)::text AS found
  FROM kept k FULL JOIN truth f USING (task, kind, depth) JOIN @tasks t ON t.id = task AND t.name IS NOT NULL
  WHERE coalesce(k.n, 0) <> coalesce(f.n, 0) LIMIT ${MAX_PROBLEMS_OF_A_KIND}`

interface CountProblem {
  readonly name: string
  readonly kind: string
  readonly depth: number
  readonly counted: string
  readonly found: string
}

export async function verifyStore({ link }: Session): Promise<readonly string[]> {
  return link.run(async (connection) => {
    await connection.script(BEGIN)
    try {
      const problems: string[] = []
      for (const { sql, sentence } of CHECKS) {
        const rows = await read<{ readonly what: string | number }>(
          connection,
          `${sql} LIMIT ${MAX_PROBLEMS_OF_A_KIND}`,
        )
        problems.push(...rows.map(({ what }) => sentence(String(what))))
      }
      const counts = await read<CountProblem>(connection, COUNTS)
      return [...problems, ...counts.map(countSentence)]
    } finally {
      await connection.script('ROLLBACK').catch(() => connection.close())
    }
  })
}

function countSentence({ name, kind, depth, counted, found }: CountProblem): string {
  const where = depth === TOTAL ? '' : ` at depth ${depth}`
  return `Task ${name} counts ${counted} ${kind}${where}, but ${found} are`
}

async function read<Row>(connection: Connection, sql: string): Promise<readonly Row[]> {
  const [rows = []] = await connection.script(sql, { timeoutMs: TIMEOUT_MS })
  return rows as readonly Row[]
}
