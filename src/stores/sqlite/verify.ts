/** The invariants of the embedded store, counted anew from its rows on one snapshot. */

import type { HostState } from '../../politeness/contract.ts'
import { hasGraph } from './links.ts'
import { DONE, FAILED, ITEMS_OF_TASK, PENDING, SKIPPED, TOTAL } from './schema.ts'
import type { Session } from './session.ts'

/** Live rows only: those of a cleared task that is not swept yet are nobody's. */
const LIVE = `requests r JOIN queues q ON q.id = r.queue_id JOIN tasks t ON t.id = q.task_id AND t.name IS NOT NULL`

/** Each answers `what` for every row that breaks it; the sentence is made of it. */
const CHECKS: readonly { readonly sql: string; readonly sentence: (what: string) => string }[] = [
  {
    sql: `SELECT r.url AS what FROM ${LIVE} WHERE r.state = ${PENDING} AND
      EXISTS (SELECT 1 FROM ready d WHERE d.queue_id = ifnull(r.hop_queue, r.queue_id) AND d.id = r.id
        AND d.urgency = 0 - r.priority AND d.level = iif(t.settings ->> 'order' = 'dfs', 0 - r.depth, r.depth))
      + EXISTS (SELECT 1 FROM delayed d WHERE d.id = r.id) + EXISTS (SELECT 1 FROM leases d WHERE d.id = r.id) <> 1`,
    sentence: (what) => `${what} is pending, but not in exactly one of queue, delay and lease`,
  },
  {
    sql: `SELECT d.id AS what FROM ready d JOIN queues q ON q.id = d.queue_id JOIN tasks t ON t.id = q.task_id
      LEFT JOIN requests r ON r.id = d.id WHERE t.name IS NOT NULL AND (r.state IS NULL OR r.state <> ${PENDING})`,
    sentence: (what) => `Request ${what} is in a queue, but not pending`,
  },
  {
    sql: `SELECT q.id AS what FROM queues q JOIN tasks t ON t.id = q.task_id AND t.name IS NOT NULL
      WHERE q.ready <> (SELECT count(*) FROM ready d WHERE d.queue_id = q.id)`,
    sentence: (what) => `Queue ${what} counts other requests than it holds`,
  },
  {
    sql: `SELECT d.id AS what FROM (SELECT id FROM leases UNION ALL SELECT id FROM delayed) d
      LEFT JOIN requests r ON r.id = d.id WHERE r.state IS NULL OR r.state <> ${PENDING}`,
    sentence: (what) => `Request ${what} is leased or delayed, but not pending`,
  },
  {
    sql: `SELECT l.id AS what FROM leases l LEFT JOIN owners o ON o.id = l.owner_id WHERE o.id IS NULL`,
    sentence: (what) => `The lease of request ${what} has no owner`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} WHERE r.alias_of IS NOT NULL
      AND (r.state <> ${SKIPPED} OR NOT EXISTS (SELECT 1 FROM requests a WHERE a.id = r.alias_of))`,
    sentence: (what) => `${what} is an alias, but not skipped, or of a request that is not there`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} WHERE r.parent IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM requests p WHERE p.id = r.parent)`,
    sentence: (what) => `The parent of ${what} is not there`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} WHERE r.item_count > 0 AND r.item_count <> (SELECT count(*) FROM items i
      WHERE i.id >= t.id * ${ITEMS_OF_TASK} + r.item_seq AND i.id < t.id * ${ITEMS_OF_TASK} + r.item_seq + r.item_count)`,
    sentence: (what) => `${what} does not have the items that it counts`,
  },
  {
    sql: `SELECT t.name AS what FROM tasks t WHERE t.name IS NOT NULL AND t.items <> (SELECT count(*) FROM items i
      WHERE i.id > t.id * ${ITEMS_OF_TASK} AND i.id <= t.id * ${ITEMS_OF_TASK} + t.last_seq)`,
    sentence: (what) => `Task ${what} counts other items than it has`,
  },
]

/** Of the link graph, where there is one. */
const LINK_CHECKS: typeof CHECKS = [
  {
    sql: `SELECT g.request_id AS what FROM graph_pages g WHERE NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = g.request_id)`,
    sentence: (what) => `Links of request ${what} are kept, but it is not there`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} JOIN graph_pages g ON g.request_id = r.id
      WHERE NOT json_valid(g.links) OR NOT json_valid(g.facts)`,
    sentence: (what) => `The links of ${what} cannot be read`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} JOIN graph_pages g ON g.request_id = r.id AND json_valid(g.links)
      WHERE EXISTS (SELECT 1 FROM json_each(g.links) e WHERE iif(e.value ->> 0 > 0,
        NOT EXISTS (SELECT 1 FROM requests o JOIN queues p ON p.id = o.queue_id
          WHERE o.id = e.value ->> 0 AND p.task_id = t.id),
        NOT EXISTS (SELECT 1 FROM graph_urls u JOIN queues p ON p.id = u.queue_id
          WHERE u.id = 0 - (e.value ->> 0) AND p.task_id = t.id)))`,
    sentence: (what) => `${what} leads to something that is not there`,
  },
  {
    sql: `SELECT r.url AS what FROM ${LIVE} JOIN graph_pages g ON g.request_id = r.id AND json_valid(g.links)
      WHERE json_array_length(g.links) <> (SELECT count(DISTINCT (e.value ->> 0) || ' ' || ifnull(e.value ->> 1, 0) || ' ' || ifnull(e.value ->> 3, ''))
        FROM json_each(g.links) e)`,
    sentence: (what) => `${what} has a link twice`,
  },
]

const MAX_PROBLEMS_OF_A_KIND = 20

export function verifyStore(session: Session): string[] {
  const { sql } = session
  const damage = sql.all<{ quick_check: string }>('PRAGMA quick_check(20)').map((row) => row.quick_check)
  if (damage.length !== 1 || damage[0] !== 'ok') return damage.map((what) => `The file is damaged: ${what}`)
  const checks = hasGraph(session) ? [...CHECKS, ...LINK_CHECKS] : CHECKS
  const problems = checks.flatMap(({ sql: text, sentence }) =>
    sql
      .all<{ what: string | number }>(`${text} LIMIT ${MAX_PROBLEMS_OF_A_KIND}`)
      .map(({ what }) => sentence(String(what))),
  )
  return [...problems, ...verifyCounts(session), ...verifyHosts(session)]
}

function verifyCounts({ sql }: Session): string[] {
  const state = `CASE r.state WHEN ${DONE} THEN 'done' WHEN ${FAILED} THEN 'failed' WHEN ${SKIPPED} THEN 'skipped'
    ELSE iif(EXISTS (SELECT 1 FROM leases l WHERE l.id = r.id), 'leased', 'pending') END`
  const differing = sql.all<{ name: string; kind: string; depth: number; counted: number; found: number }>(
    `WITH rows AS (SELECT t.id AS task, ${state} AS kind, r.depth AS depth, r.reason AS reason FROM ${LIVE}),
     truth AS (
       SELECT task, kind, depth, count(*) AS n FROM rows GROUP BY 1, 2, 3
       UNION ALL SELECT task, kind, ${TOTAL}, count(*) FROM rows GROUP BY 1, 2
       UNION ALL SELECT task, 'skipped:' || reason, ${TOTAL}, count(*) FROM rows WHERE kind = 'skipped' GROUP BY 1, 2),
     kept AS (SELECT c.task_id AS task, c.kind, c.depth, c.n FROM counts c WHERE c.n <> 0),
     both AS (SELECT task, kind, depth, n, 0 AS m FROM kept UNION ALL SELECT task, kind, depth, 0, n FROM truth)
     SELECT t.name, kind, depth, sum(n) AS counted, sum(m) AS found FROM both
     JOIN tasks t ON t.id = task AND t.name IS NOT NULL GROUP BY task, kind, depth
     HAVING sum(n) <> sum(m) LIMIT ${MAX_PROBLEMS_OF_A_KIND}`,
  )
  return differing.map(({ name, kind, depth, counted, found }) => {
    const where = depth === TOTAL ? '' : ` at depth ${depth}`
    return `Task ${name} counts ${counted} ${kind}${where}, but ${found} are`
  })
}

function verifyHosts({ sql }: Session): string[] {
  const hosts = sql.all<{ key: string; state: string; held: number }>(
    `SELECT h.key, h.state, (SELECT count(*) FROM leases l JOIN queues q ON q.id = l.queue_id
       WHERE q.host_id = h.id AND l.leased_at >= 0) AS held
     FROM hosts h WHERE h.state ->> 'inFlight' <> 0 OR EXISTS (
       SELECT 1 FROM leases l JOIN queues q ON q.id = l.queue_id WHERE q.host_id = h.id)`,
  )
  return hosts.flatMap(({ key, state, held }) => {
    const { inFlight } = JSON.parse(state) as HostState
    return inFlight === held ? [] : [`Host ${key} counts ${inFlight} in flight, but ${held} are leased`]
  })
}
