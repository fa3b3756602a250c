/** Who works on the store, in the server: owners registered, seen, and what they held given back. */

/** Arguments: format, what is known of the owner as JSON; an owner that is known already is registered again. */
export const REGISTER = `
local format, info = arg(), arg()
local found = call('HGET', META, 'format')
if found and found ~= format then return { 'format', found } end
if not found then call('HSET', META, 'format', format) end
owner = owner or tostring(call('HINCRBY', META, 'lastOwner', 1))
call('SADD', P .. 'owners', owner)
call('HSETNX', P .. 'w:' .. owner, 'started', wall)
call('HSET', P .. 'w:' .. owner, 'info', info, 'seen', now)
return { 'ok', owner }
`

/** Says that the owner is alive. */
export const BEAT = `
local known = begin()
if known then return known end
return finish('')
`

/** Arguments: the owner that is gone, whether its attempts are charged. What it held comes back at once. */
export const BURY = `
local known = begin()
if known then return known end
local dead, charged = arg(), arg() == '1'
local all = call('HGETALL', P .. 'held')
for n = 1, #all, 2 do
  if unpackHeld(all[n + 1]).owner == dead then takeBack(all[n], charged) end
end
call('SREM', P .. 'owners', dead)
call('UNLINK', P .. 'w:' .. dead)
rang = true
-- who buries itself is not to be noted again
if dead == owner then owner = false end
return finish('')
`

/** Answers number, info, start, milliseconds since it was seen, and leases of each owner. */
export const OWNERS = `
local leased = {}
for _, raw in ipairs(call('HVALS', P .. 'held')) do
  local id = unpackHeld(raw).owner
  leased[id] = (leased[id] or 0) + 1
end
local found = {}
for _, id in ipairs(call('SMEMBERS', P .. 'owners')) do
  local v = call('HMGET', P .. 'w:' .. id, 'info', 'started', 'seen')
  push(found, { id, v[1] or '{}', v[2] or '0', exact(now - tonumber(v[3] or 0)), leased[id] or 0 })
end
return { 'ok', found }
`
