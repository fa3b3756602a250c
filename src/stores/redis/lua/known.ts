/** The known-set in the server: adding, reviving, aliases, and depths that come nearer. */

import { REVIVABLE_SKIPS } from '../../../core/outcome.ts'

const REVIVABLE = [...REVIVABLE_SKIPS].map((reason) => `['${reason}'] = true`).join(', ')

/** Steps of one script that lowers depths; the rest is kept and done by those that follow. */
const MAX_STEPS = 2000

/** As src/frontier/decide-add.ts and the memory store have it. A request `q` is what `readRequest` makes. */
export const KNOWN = `
local REVIVABLE = { ${REVIVABLE} }

-- Host keys come first, each with whether it is loopback by its name; requests name them by their place.
local argHosts = {}
local function readHosts()
  local keys = {}
  for n = 1, num() do
    local key = arg()
    argHosts[n] = key
    isLoopback[key] = arg() == '1'
    keys[n] = key
  end
  fetchHosts(keys)
end

-- Most requests of one call differ in fingerprint, URL and host alone; a plus sign tells of what else follows.
local function readRequest(depth, priority)
  local q = { fp = arg(), url = arg(), depth = depth, priority = priority, skip = false, extra = false }
  local host = arg()
  if string.byte(host, 1) == 43 then
    host = string.sub(host, 2)
    q.depth, q.priority, q.skip, q.extra = num(), num(), opt(), opt()
  end
  q.host = argHosts[tonumber(host)]
  return q
end

local function skipOf(q, maxDepth)
  if q.skip and (q.skip ~= 'depth' or not maxDepth) then return q.skip end
  return maxDepth and q.depth > maxDepth and 'depth' or false
end

local function isRevivable(row) return row.state == SKIPPED and REVIVABLE[row.reason] == true end

local function insertRow(task, q, skip, parent, alias)
  lastId = (lastId or tonumber(call('HGET', META, 'lastId') or 0)) + 1
  local row = {
    fp = q.fp, task = task, id = lastId, state = skip and SKIPPED or PENDING, depth = q.depth, url = q.url,
    host = q.host, parent = parent, priority = q.priority, attempt = 0, status = false, itemSeq = 0, itemCount = 0,
    reason = skip, alias = alias, extra = q.extra or false, hop = false, attempts = false, held = false,
  }
  task.rows[q.fp] = row
  push(task.order, q.fp)
  queueOf(task, q.host)
  recount(row)
  if not skip then place(row) end
  return row
end

-- A settled or refused row goes back to its queue as if it had never been tried.
local function revive(row)
  uncount(row)
  row.hop = false
  row.attempt = 0
  row.status = false
  putBack(row, 0)
end

local function lowerItems(row, depth)
  local key = P .. 'i:' .. row.task.id
  for seq = row.itemSeq, row.itemSeq + row.itemCount - 1 do
    local raw = call('HGET', key, seq)
    if raw and string.sub(raw, 1, 1) == 'p' then
      local item = cmsgpack.unpack(string.sub(raw, 2))
      item[2] = depth
      call('HSET', key, seq, 'p' .. cmsgpack.pack(item))
      sum(row.task, 'revision', 1)
    end
  end
end

local function setPlace(row, depth, priority)
  if depth == row.depth and priority == row.priority then return end
  local nearer = depth < row.depth
  local queued = row.state == PENDING and not heldOf(row) and unqueue(row)
  uncount(row)
  row.depth = depth
  row.priority = priority
  recount(row)
  if queued then place(row) end
  if not nearer then return end
  local maxDepth = row.task.maxDepth
  if row.state == SKIPPED and row.reason == 'depth' and maxDepth and depth <= maxDepth then revive(row) end
  if row.itemCount > 0 then lowerItems(row, depth) end
end

-- Brings rows, and all that they lead to, nearer: invariant 8.
local function lowerDepths(task, work)
  local steps, n = 0, 0
  while n < #work and steps < ${MAX_STEPS} do
    n = n + 1
    steps = steps + 1
    local met = rowOf(task, work[n][1])
    local row = met and rootOf(met)
    local depth = work[n][2]
    if row and depth < row.depth then
      setPlace(row, depth, row.priority)
      local children = call('HGET', P .. 'k:' .. task.id, row.fp) or ''
      for from = 1, #children, 16 do push(work, { string.sub(children, from, from + 15), depth + 1 }) end
    end
  end
  for left = n + 1, #work do
    call('ZADD', P .. 'low:' .. task.id, 'LT', work[left][2], work[left][1])
    rang = true
  end
end

local function adopt(row, q, parent, viaAlias)
  uncount(row)
  row.depth = q.depth
  row.priority = q.priority
  if not viaAlias then
    row.url = q.url
    row.host = q.host
    row.extra = q.extra
    row.parent = parent
  end
end

local function reviveAs(row, q, skip, from)
  if not skip then
    adopt(row, q, from.parent, from.viaAlias)
    recount(row)
    revive(row)
    return 'a'
  end
  if row.reason == 'depth' and row.depth <= q.depth then return 'k' end
  local answer = row.reason == 'depth' and 'u' or 'k'
  adopt(row, q, from.parent, from.viaAlias)
  row.reason = 'depth'
  recount(row)
  return answer
end

-- Answers a (added), k (known) or u (updated).
local function addRequest(task, q, parent)
  local skip = skipOf(q, task.maxDepth)
  if task.rows[q.fp] == nil then
    local v = rawOf(task, q.fp)
    -- what most links are: known, no further away, and standing for itself
    if v and v[2] ~= SKIPPED and v[3] <= q.depth and (v[7] or 0) >= q.priority then return 'k' end
  end
  local met = rowOf(task, q.fp)
  if not met then
    insertRow(task, q, skip, parent, false)
    return 'a'
  end
  if skip and (skip ~= 'depth' or not task.maxDepth) then return 'k' end
  local row = rootOf(met)
  if isRevivable(row) then return reviveAs(row, q, skip, { parent = parent, viaAlias = row ~= met }) end
  local depth, priority = math.min(row.depth, q.depth), math.max(row.priority, q.priority)
  if depth == row.depth and priority == row.priority then return 'k' end
  setPlace(row, row.depth, priority)
  lowerDepths(task, { { row.fp, depth } })
  return 'u'
end
`

/** Arguments: names of tasks, hosts, usual depth and priority, requests, each with the place of its task. Answers a letter a request. */
export const ADD = `
local known = begin()
if known then return known end
local named, fps = {}, {}
for n = 1, num() do
  named[n] = taskNamed(arg())
  if not named[n] then return { 'notask', ARGV[at] } end
  fps[n] = {}
end
readHosts()
local depth, priority = num(), num()
local requests, places = {}, {}
for n = 1, num() do
  places[n] = num()
  requests[n] = readRequest(depth, priority)
  push(fps[places[n]], requests[n].fp)
end
for n, task in ipairs(named) do fetchRows(task, fps[n]) end
local answers = {}
for n, q in ipairs(requests) do answers[n] = addRequest(named[places[n]], q, false) end
rang = true
return finish(table.concat(answers))
`
