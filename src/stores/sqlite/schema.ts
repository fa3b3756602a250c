/** The tables of the embedded store, and the settings of a connection to it. */

/** Grows when an older version could not read what this one writes. */
export const FORMAT = 2

/**
 * ready    what may be leased, in its order: one range a host and task; a row leaves it when it is leased
 * queues   due_ms: when it is due; of silent hosts in a range of their own, see dueAt in src/frontier/order.ts
 * delayed  retries whose time has not come
 * leases   what is leased: a pending request is in exactly one of these three; leased_at -1: it holds no place at its host
 * links    what a settled page leads to, for tasks with a maximum depth: ids, and fingerprints of known links
 * lowering depths that are still to be passed on: work that a transaction left to the next
 * replaced items of pages that are crawled again: they go when the new ones come
 */
export const SCHEMA = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE tasks(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, settings TEXT NOT NULL, hosts INTEGER NOT NULL,
  items INTEGER NOT NULL, last_seq INTEGER NOT NULL, revision INTEGER NOT NULL, counters TEXT NOT NULL);
CREATE TABLE counts(
  task_id INTEGER NOT NULL, kind TEXT NOT NULL, depth INTEGER NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY(task_id, kind, depth)) WITHOUT ROWID;
CREATE TABLE hosts(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL);
CREATE TABLE queues(
  id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL, host_id INTEGER NOT NULL, ready INTEGER NOT NULL,
  opened INTEGER NOT NULL, due_ms, UNIQUE(host_id, task_id));
CREATE INDEX queues_due ON queues(task_id, due_ms) WHERE due_ms IS NOT NULL;
CREATE TABLE requests(
  id INTEGER PRIMARY KEY, queue_id INTEGER NOT NULL, fp TEXT NOT NULL, state INTEGER NOT NULL, depth NOT NULL,
  priority NOT NULL, url TEXT NOT NULL, reason TEXT, status INTEGER, parent INTEGER, alias_of INTEGER,
  attempt INTEGER NOT NULL DEFAULT 0, extra TEXT, hop TEXT, hop_queue INTEGER, item_seq INTEGER, item_count INTEGER, visit TEXT);
CREATE UNIQUE INDEX requests_fp ON requests(queue_id, fp);
CREATE INDEX requests_failed ON requests(id) WHERE state = 3;
CREATE TABLE ready(queue_id INTEGER, urgency, level, id INTEGER, PRIMARY KEY(queue_id, urgency, level, id)) WITHOUT ROWID;
CREATE TABLE delayed(id INTEGER PRIMARY KEY, retry_at NOT NULL);
CREATE INDEX delayed_at ON delayed(retry_at);
CREATE TABLE leases(
  id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL, token INTEGER NOT NULL, queue_id INTEGER NOT NULL,
  leased_at NOT NULL, expires_at NOT NULL);
CREATE TABLE attempts(id INTEGER PRIMARY KEY, request_id INTEGER NOT NULL, record TEXT NOT NULL);
CREATE INDEX attempts_request ON attempts(request_id);
CREATE TABLE links(request_id INTEGER PRIMARY KEY, ids TEXT NOT NULL, known TEXT NOT NULL);
CREATE TABLE lowering(id INTEGER PRIMARY KEY, depth NOT NULL);
CREATE TABLE items(id INTEGER PRIMARY KEY, json TEXT NOT NULL, is_page INTEGER NOT NULL);
CREATE TABLE replaced(request_id INTEGER PRIMARY KEY, item_seq INTEGER NOT NULL, item_count INTEGER NOT NULL);
CREATE TABLE owners(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, started_at TEXT NOT NULL);
CREATE TABLE state(key TEXT PRIMARY KEY, value TEXT NOT NULL);
`

/**
 * Of the link graph. Made when it is not there: a folder of before goes on, and older versions pass it over.
 * graph_pages where a settled page leads: ids of requests, and negative ones of graph_urls
 * graph_urls  what is no request of its task
 */
export const GRAPH_SCHEMA = `
CREATE TABLE IF NOT EXISTS graph_pages(
  request_id INTEGER PRIMARY KEY, links TEXT NOT NULL, dropped INTEGER NOT NULL, facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS graph_urls(
  id INTEGER PRIMARY KEY, queue_id INTEGER NOT NULL, fp TEXT NOT NULL, url TEXT NOT NULL, UNIQUE(queue_id, fp));
`

/**
 * WAL with synchronous NORMAL: a kill loses nothing, a power cut at most the last moments, never the file's soundness.
 * Checkpoints are the business of checkpoint.ts. No mmap: its pages would count as resident memory.
 */
export const CONNECTION = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -16384;
PRAGMA wal_autocheckpoint = 0;
PRAGMA temp_store = MEMORY;
`

/** `requests.state`. A leased request is a pending one with a row in `leases`. */
export const PENDING = 0
export const DONE = 2
export const FAILED = 3
export const SKIPPED = 4

/** `counts.depth` of a total over all depths. */
export const TOTAL = -1

/** Items of all tasks are one table in which each task's are one range: id = task × this + seq. */
export const ITEMS_OF_TASK = 2 ** 36
