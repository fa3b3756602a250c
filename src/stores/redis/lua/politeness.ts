/** The politeness of hosts in the server's own language: what src/politeness/host-state.ts says, step by step. */

import { MAX_SILENT_FAILURES, START_SLACK_MS } from '../../../politeness/host-state.ts'
import { MAX_RETRY_AFTER_MS } from '../../../politeness/retry-after.ts'

/**
 * A host `h` has the fields of `HostState` (nextAt, inFlight, crawlDelay, backoffStep, backoffAt, silent, downUntil);
 * limits are the two numbers of `HostLimits`. That both languages always agree is tested with random states.
 */
export const POLITENESS = `
local function isDown(h) return h.downUntil > now end

local function isSilent(h) return h.silent > 0 or (h.backoffStep > 0 and h.backoffAt == 0) end

local function placesOf(h, places)
  if h.backoffStep > 0 or h.silent >= ${MAX_SILENT_FAILURES} or h.crawlDelay >= 1000 then return 1 end
  return places
end

local function delayOf(h, delay)
  local most = math.max(delay, h.crawlDelay)
  return most > 0 and most + ${START_SLACK_MS} or 0
end

local function mayStart(h, delay, places)
  if isDown(h) then return true end
  return now >= h.nextAt and h.inFlight < placesOf(h, places)
end

-- Score of a host among those of its task: 0 while it is down, false while only a settlement can help.
local function dueOf(h, delay, places)
  if isDown(h) then return 0 end
  return h.inFlight < placesOf(h, places) and h.nextAt
end

local function reserve(h, delay, places)
  if not isDown(h) then h.nextAt = now + delayOf(h, delay) end
  h.inFlight = h.inFlight + 1
end

local function startLate(h, delay, places)
  h.nextAt = math.max(h.nextAt, now + delayOf(h, delay))
end

local function bounded(ms)
  if not (ms > -math.huge and ms < math.huge) then return 0 end
  return math.min(math.max(ms, 0), ${MAX_RETRY_AFTER_MS})
end

local function giveTimeBack(h, leasedAt, delay)
  if math.abs(h.nextAt - leasedAt - delayOf(h, delay)) < 1 and h.backoffAt <= leasedAt then h.nextAt = leasedAt end
end

local function takeAnswer(h, crawlDelay, leasedAt, delay)
  local before = h.crawlDelay
  if crawlDelay then h.crawlDelay = math.min(bounded(crawlDelay), 3600000) end
  if leasedAt >= h.backoffAt then h.backoffStep = 0 end
  h.silent = 0
  h.downUntil = 0
  if h.crawlDelay > before then h.nextAt = math.max(h.nextAt, now + delayOf(h, delay)) end
end

local function backoffOf(step)
  local whole = math.min(300000, 1500 * 2 ^ math.min(math.max(step - 1, 0), 50))
  return math.floor(whole * (0.5 + random() / 2) + 0.5)
end

local function slowDown(h, retryAfter, leasedAt)
  local asked = bounded(retryAfter or 0)
  if leasedAt < h.backoffAt then
    if asked > 0 then h.nextAt = math.max(h.nextAt, now + asked) end
    return
  end
  local step = 1
  if h.backoffAt ~= 0 then step = math.min(h.backoffStep + 1, 30) end
  local wait = asked
  if asked <= 0 then wait = backoffOf(step) end
  h.backoffStep = step
  h.backoffAt = now
  h.nextAt = math.max(h.nextAt, now + wait)
end

local function noteSilence(h)
  if isDown(h) then return end
  h.silent = h.silent + 1
  if h.silent < ${MAX_SILENT_FAILURES} then return end
  local rests = math.min(h.silent - ${MAX_SILENT_FAILURES}, 20)
  h.downUntil = now + math.min(30000 * 2 ^ rests, 900000)
end

local function settleHost(h, signal, value, leasedAt, delay)
  h.inFlight = math.max(0, h.inFlight - 1)
  if signal == 'unused' then
    giveTimeBack(h, leasedAt, delay)
  elseif signal == 'answered' then
    takeAnswer(h, value, leasedAt, delay)
  elseif signal == 'troubled' then
    h.silent = 0
    h.downUntil = 0
  elseif signal == 'throttled' then
    h.silent = 0
    h.downUntil = 0
    slowDown(h, value, leasedAt)
  elseif signal == 'silent' then
    noteSilence(h)
  elseif signal == 'hold' then
    h.nextAt = math.max(h.nextAt, now + bounded(value))
  end
end
`
