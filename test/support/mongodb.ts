/** A place of its own on a MongoDB server for each test, and what is left of it afterwards. */

import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'

export interface FreshPlace {
  readonly url: string
  readonly database: string
  drop(): Promise<void>
}

/** A new database on the same server. */
export async function freshUrl(server: string): Promise<FreshPlace> {
  const database = `spoor_test_${randomUUID().slice(0, 12)}`
  const url = new URL(server)
  url.pathname = `/${database}`
  return {
    url: url.href,
    database,
    drop: async () => {
      const client = new MongoClient(server)
      await client.connect()
      await client.db(database).dropDatabase()
      await client.close()
    },
  }
}
