/** How a lease ends, in the server: all of it in one script. */

/** A settlement `s` is what `readSettlement` makes; the steps are those of the memory store. */
export const SETTLE_STEPS = `
local function readOutcome()
  local o = { kind = arg() }
  if o.kind == 'done' then
    o.status = num()
  elseif o.kind == 'skipped' then
    o.reason = arg()
  elseif o.kind == 'redirected' then
    o.url, o.fp, o.host, o.hop = arg(), arg(), argHosts[num()], arg()
  elseif o.kind == 'retry' or o.kind == 'failed' then
    o.failure, o.status, o.attempt, o.inMs, o.charged = arg(), num() or false, arg(), num(), arg() == '1'
  end
  return o
end

local function readSettlement()
  local s = { fp = arg(), token = arg(), depth = num(), outcome = readOutcome(), signal = arg(), value = num() }
  s.counts, s.items, s.found = {}, {}, {}
  for n = 1, num() do s.counts[n] = { arg(), num() } end
  for n = 1, num() do s.items[n] = { arg(), opt() } end
  for n = 1, num() do s.found[n] = readRequest(s.depth + 1, 0) end
  s.known = arg()
  return s
end

-- Everything that the settlements will ask for, in few calls.
local function fetchSettlements(task, list)
  local names, fps = {}, {}
  for _, s in ipairs(list) do
    push(names, task.id .. '|' .. s.fp)
    push(fps, s.fp)
    if s.outcome.fp then push(fps, s.outcome.fp) end
    for _, q in ipairs(s.found) do push(fps, q.fp) end
  end
  fetchRows(task, fps)
  local keys = {}
  for from = 1, #names, 4000 do
    local last = math.min(from + 3999, #names)
    for n, raw in ipairs(call('HMGET', P .. 'held', unpack(names, from, last))) do
      local row = task.rows[list[from + n - 1].fp]
      local held = raw and unpackHeld(raw)
      if row and row.held == nil then row.held = held end
      if held then push(keys, held.host) end
    end
  end
  fetchHosts(keys)
end

local function logAttempt(row, o)
  row.status = o.status
  row.attempts = row.attempts or {}
  push(row.attempts, { o.attempt, wall })
end

local function redirect(row, o)
  local task = row.task
  local met = rowOf(task, o.fp)
  local target = met and rootOf(met)
  if target and target ~= row and not isRevivable(target) then
    row.alias = target.fp
    row.state = SKIPPED
    row.reason = 'duplicate'
    recount(row)
    lowerDepths(task, { { target.fp, row.depth } })
    return
  end
  if not target then
    local q = { fp = o.fp, url = o.url, host = o.host, depth = row.depth, priority = row.priority }
    insertRow(task, q, 'duplicate', row.fp, row.fp)
  elseif target ~= row then
    uncount(target)
    target.alias = row.fp
    target.reason = 'duplicate'
    recount(target)
  end
  local hops = row.hop and row.hop[3] or {}
  push(hops, o.hop)
  row.hop = { o.url, o.host, hops }
  putBack(row, 0)
end

local function applyOutcome(row, o)
  local kind = o.kind
  if kind == 'redirected' then return redirect(row, o) end
  if kind == 'released' then return putBack(row, 0) end
  if kind == 'retry' then
    if o.charged then row.attempt = row.attempt + 1 end
    logAttempt(row, o)
    return putBack(row, o.inMs)
  end
  if kind == 'done' then
    row.state, row.reason, row.status = DONE, false, o.status
  elseif kind == 'skipped' then
    row.state, row.reason = SKIPPED, o.reason
  else
    row.attempt = row.attempt + 1
    logAttempt(row, o)
    row.state, row.reason = FAILED, o.failure
  end
  recount(row)
end

-- New items take the place of older ones. A page's own record is kept around its depth, which may still change.
local function keepItems(row, s)
  local task, key = row.task, P .. 'i:' .. row.task.id
  if row.itemCount > 0 and (s.outcome.kind == 'done' or #s.items > 0) then
    local old = {}
    for seq = row.itemSeq, row.itemSeq + row.itemCount - 1 do push(old, seq) end
    callMany('HDEL', key, old)
    sum(task, 'revision', 1)
    row.itemSeq, row.itemCount = 0, 0
  end
  if #s.items == 0 then return end
  row.itemSeq, row.itemCount = task.lastSeq + 1, #s.items
  local values = {}
  for _, item in ipairs(s.items) do
    task.lastSeq = task.lastSeq + 1
    push2(values, task.lastSeq, item[2] and 'p' .. cmsgpack.pack({ item[1], row.depth, item[2] }) or 'j' .. item[1])
  end
  sum(task, 'lastSeq', #s.items)
  callMany('HSET', key, values)
end

local function discover(row, s)
  local task = row.task
  -- the page may have come nearer since the worker reckoned from its depth
  local nearer = math.max(0, s.depth - row.depth)
  local children = {}
  for _, q in ipairs(s.found) do
    if not q.skip or q.skip == 'depth' then push(children, q.fp) end
    if nearer > 0 then q.depth = math.max(0, q.depth - nearer) end
    addRequest(task, q, row.fp)
  end
  if not task.maxDepth or (#children == 0 and s.known == '') then return end
  call('HSET', P .. 'k:' .. task.id, row.fp, table.concat(children) .. s.known)
  if nearer == 0 then return end
  -- what it took for known is known at the depth it reckoned with
  local work = {}
  for from = 1, #s.known, 16 do push(work, { string.sub(s.known, from, from + 15), row.depth + 1 }) end
  lowerDepths(task, work)
end

-- Answers s (settled) or l (lost).
local function settleOne(task, s)
  local row = rowOf(task, s.fp)
  local held = row and heldOf(row)
  if not held or held.token ~= s.token then return 'l' end
  uncount(row)
  row.dirty = true
  endLease(row, s.signal, s.value)
  applyOutcome(row, s.outcome)
  keepItems(row, s)
  discover(row, s)
  for _, counted in ipairs(s.counts) do sum(task, 'c:' .. counted[1], counted[2]) end
  return 's'
end
`

/** Arguments: names of tasks, hosts, random numbers, settlements with the place of their task. Answers a letter each. */
export const SETTLE = `
local known = begin()
if known then return known end
local named, lists = {}, {}
for n = 1, num() do
  -- of a task that was cleared every lease is lost
  named[n] = taskNamed(arg()) or false
  lists[n] = {}
end
readHosts()
for n = 1, num() do randoms[n] = num() end
local all, places = {}, {}
for n = 1, num() do
  places[n] = num()
  all[n] = readSettlement()
  push(lists[places[n]], all[n])
end
for n, task in ipairs(named) do
  if task then fetchSettlements(task, lists[n]) end
end
local answers = {}
for n, s in ipairs(all) do
  local task = named[places[n]]
  answers[n] = task and settleOne(task, s) or 'l'
end
rang = true
return finish(table.concat(answers) .. randomsUsed)
`
