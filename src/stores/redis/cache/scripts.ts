/** The steps of the download cache that Redis carries out as one: each a script, given the names of keys by their beginning. */

import { createHash } from 'node:crypto'

/** What a page or a blob takes up in memory beside its texts and data: measured, see docs/stores/redis.md. */
const PAGE_BYTES = 700
const BLOB_BYTES = 400
/** The server's allocator rounds up. */
const ROUNDING = 1.1

/**
 * sums     numbers that are true for all: pages, blobs, bytes, hits and so on; and the format
 * keys     all pages in the order of their keys; checked, used: the same by their instants
 * hosts    pages of each host; hostbytes: what their bodies come to
 * p:key    a page: host, digest, bodyBytes, bytes, checkedAtMs, url, meta, headers, a line each
 * b:digest a blob: what it is, `refs` pages have it, data in d0, d1, …; without d0: damaged, to be written anew
 * u:id     parts of an upload that belongs to no blob yet; ends by itself
 */
const HEAD = `
local base = KEYS[1]
local function key_of(kind, name) return base .. kind .. ':' .. name end
local function add(field, n) if n ~= 0 then redis.call('HINCRBY', base .. 'sums', field, string.format('%.0f', n)) end end

local function page_of(key)
  local text = redis.call('GET', key_of('p', key))
  if not text then return nil end
  local host, digest, body, bytes, rest = string.match(text, '^([^\\n]*)\\n([^\\n]*)\\n([^\\n]*)\\n([^\\n]*)\\n(.*)$')
  return { host = host, digest = digest, body = tonumber(body), bytes = tonumber(bytes), text = text, rest = rest }
end

local function count_page(page, sign)
  add('pages', sign)
  add('bodyBytes', sign * page.body)
  add('bytes', sign * page.bytes)
  if tonumber(redis.call('ZINCRBY', base .. 'hosts', sign, page.host)) <= 0 then
    redis.call('ZREM', base .. 'hosts', page.host)
    redis.call('HDEL', base .. 'hostbytes', page.host)
  else
    redis.call('HINCRBY', base .. 'hostbytes', page.host, string.format('%.0f', sign * page.body))
  end
end

local function count_blob(packed, sign)
  add('blobs', sign)
  add('packedBytes', sign * packed)
  add('bytes', sign * (math.floor(packed * ${ROUNDING}) + ${BLOB_BYTES}))
end

local function release(digest)
  if digest == '' then return end
  local key = key_of('b', digest)
  if redis.call('HINCRBY', key, 'refs', -1) > 0 then return end
  if redis.call('HEXISTS', key, 'd0') == 1 then count_blob(tonumber(redis.call('HGET', key, 'packed')), -1) end
  redis.call('UNLINK', key)
end
`

/** ARGV: key, row without its sums, its bytes, its instants, digest, blob ('' for none). Answers 1, or 0 without it. */
const PUT = `
local key, host, digest, body, bytes, checked, used = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local url, meta, headers = ARGV[8], ARGV[9], ARGV[10]
local codec, crc, packed, parts, data, upload = ARGV[11], ARGV[12], ARGV[13], ARGV[14], ARGV[15], ARGV[16]
local blob = key_of('b', digest)
local is_there = digest == '' or redis.call('HEXISTS', blob, 'd0') == 1
if not is_there then
  if codec == '' then return 0 end
  if upload ~= '' then
    local place = key_of('u', upload)
    if redis.call('HLEN', place) ~= tonumber(parts) then return 0 end
    local refs = redis.call('HGET', blob, 'refs') or '0'
    redis.call('RENAME', place, blob)
    redis.call('PERSIST', blob)
    redis.call('HSET', blob, 'refs', refs)
  else
    redis.call('HSET', blob, 'd0', data)
  end
  redis.call('HSET', blob, 'codec', codec, 'crc', crc, 'packed', packed)
  count_blob(tonumber(packed), 1)
elseif upload ~= '' then
  redis.call('UNLINK', key_of('u', upload))
end
bytes = tonumber(bytes) + ${PAGE_BYTES}
local old = page_of(key)
if old then count_page(old, -1) end
redis.call('SET', key_of('p', key),
  table.concat({ host, digest, body, string.format('%.0f', bytes), url, meta, headers }, '\\n'))
redis.call('ZADD', base .. 'keys', 0, key)
redis.call('ZADD', base .. 'checked', checked, key)
redis.call('ZADD', base .. 'used', used, key)
count_page({ host = host, body = tonumber(body), bytes = bytes }, 1)
if digest ~= '' and not (old and old.digest == digest) then redis.call('HINCRBY', blob, 'refs', 1) end
if old and old.digest ~= digest then release(old.digest) end
return 1
`

/** ARGV: key, whether the data is wanted. Answers text, checked, used, codec, crc, packed, d0. */
const FIND = `
local page = page_of(ARGV[1])
if not page then return {} end
local checked = redis.call('ZSCORE', base .. 'checked', ARGV[1])
local used = redis.call('ZSCORE', base .. 'used', ARGV[1])
if ARGV[2] == '' or page.digest == '' then return { page.text, checked, used } end
local fields = redis.call('HMGET', key_of('b', page.digest), 'codec', 'crc', 'packed')
if not fields[1] or redis.call('HEXISTS', key_of('b', page.digest), 'd0') == 0 then return { page.text, checked, used } end
if tonumber(fields[3]) > tonumber(ARGV[2]) then return { page.text, checked, used, fields[1], fields[2], fields[3] } end
return { page.text, checked, used, fields[1], fields[2], fields[3], redis.call('HGET', key_of('b', page.digest), 'd0') }
`

/** ARGV: key, headers, checked, used. */
const REFRESH = `
local page = page_of(ARGV[1])
if not page then return 0 end
local kept = string.match(page.text, '^(.*\\n)[^\\n]*$')
redis.call('SET', key_of('p', ARGV[1]), kept .. ARGV[2])
redis.call('ZADD', base .. 'checked', ARGV[3], ARGV[1])
redis.call('ZADD', base .. 'used', 'GT', ARGV[4], ARGV[1])
return 1
`

/** ARGV: checked before, used at most ('' for any), keys. */
const REMOVE = `
local before, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local count = 0
for at = 3, #ARGV do
  local key = ARGV[at]
  local page = page_of(key)
  local fits = page and (not before or tonumber(redis.call('ZSCORE', base .. 'checked', key)) < before)
    and (not most or tonumber(redis.call('ZSCORE', base .. 'used', key)) <= most)
  if fits then
    redis.call('UNLINK', key_of('p', key))
    for _, set in ipairs({ 'keys', 'checked', 'used' }) do redis.call('ZREM', base .. set, key) end
    count_page(page, -1)
    release(page.digest)
    count = count + 1
  end
end
return count
`

/** ARGV: digest, crc. The pages that have it are misses until one of them brings it again. */
const FORGET = `
local blob = key_of('b', ARGV[1])
if redis.call('HGET', blob, 'crc') ~= ARGV[2] or redis.call('HEXISTS', blob, 'd0') == 0 then return 0 end
count_blob(tonumber(redis.call('HGET', blob, 'packed')), -1)
local refs = redis.call('HGET', blob, 'refs') or '0'
redis.call('UNLINK', blob)
redis.call('HSET', blob, 'refs', refs)
return 1
`

/** ARGV: after, up to, limit. Answers key, text, checked, used of each. */
const RANGE = `
local rows = {}
for _, key in ipairs(redis.call('ZRANGEBYLEX', base .. 'keys', ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
  rows[#rows + 1] = { key, redis.call('GET', key_of('p', key)), redis.call('ZSCORE', base .. 'checked', key),
    redis.call('ZSCORE', base .. 'used', key) }
end
return rows
`

/** ARGV: number of counts, field and number of each; key and hour of each use. */
const NOTE = `
local counts = tonumber(ARGV[1])
for at = 2, 2 * counts, 2 do add(ARGV[at], tonumber(ARGV[at + 1])) end
for at = 2 + 2 * counts, #ARGV, 2 do redis.call('ZADD', base .. 'used', 'XX', 'GT', ARGV[at + 1], ARGV[at]) end
return 1
`

/** Answers sums, the oldest and the newest, hosts with their pages, what their bodies come to. */
const TOTALS = `
local hosts = redis.call('ZREVRANGE', base .. 'hosts', 0, 99, 'WITHSCORES')
local bytes = {}
for at = 1, #hosts, 2 do bytes[#bytes + 1] = redis.call('HGET', base .. 'hostbytes', hosts[at]) or '0' end
return { redis.call('HGETALL', base .. 'sums'), redis.call('ZRANGE', base .. 'checked', 0, 0, 'WITHSCORES'),
  redis.call('ZREVRANGE', base .. 'checked', 0, 0, 'WITHSCORES'), hosts, bytes }
`

/** ARGV: upload, field, data, how long it is kept. */
const WRITE_PART = `
redis.call('HSET', key_of('u', ARGV[1]), ARGV[2], ARGV[3])
redis.call('PEXPIRE', key_of('u', ARGV[1]), ARGV[4])
return 1
`

/** ARGV: format, whether to make it. Answers the format that is there, '' for none. */
const OPEN = `
if ARGV[2] == '1' then redis.call('HSETNX', base .. 'sums', 'format', ARGV[1]) end
return redis.call('HGET', base .. 'sums', 'format') or ''
`

export interface CacheScript {
  readonly text: string
  /** What the server calls it by, once it has seen the text. */
  readonly sha: string
}

function script(body: string): CacheScript {
  const text = `${HEAD}${body}`
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

export const CACHE_SCRIPTS = {
  open: script(OPEN),
  put: script(PUT),
  find: script(FIND),
  refresh: script(REFRESH),
  remove: script(REMOVE),
  forget: script(FORGET),
  range: script(RANGE),
  note: script(NOTE),
  totals: script(TOTALS),
  writePart: script(WRITE_PART),
} as const satisfies Record<string, CacheScript>
