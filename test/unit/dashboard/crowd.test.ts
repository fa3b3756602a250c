/** Answers that nobody takes: counted over all connections, and let go with them. */

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { createCrowd } from '../../../src/dashboard/crowd.ts'

const nothing = (): void => undefined

test('answers on their way are counted, also those that wait behind another one', async () => {
  const server = createServer()
  const crowd = createCrowd(server, 2)
  const entered: boolean[] = []
  const waiting: ServerResponse[] = []
  let asked = nothing
  server.on('request', (request, response) => {
    entered.push(crowd.enter(request, response))
    waiting.push(response)
    asked()
  })
  const untilAsked = (count: number): Promise<void> =>
    new Promise((resolve) => {
      asked = () => {
        if (entered.length >= count) resolve()
      }
      asked()
    })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ask = (times: number) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(times))
    return socket.resume()
  }
  try {
    const first = ask(3)
    await untilAsked(3)
    expect(entered).toEqual([true, true, false])
    // its connection ends: the answers that it waited for are none any more
    const gone = once(waiting[0]?.req.socket ?? first, 'close')
    first.destroy()
    await gone
    const second = ask(2)
    await untilAsked(5)
    expect(entered.slice(3)).toEqual([true, true])
    const last = waiting.at(-1)
    if (last === undefined) throw new Error('expected an answer')
    const taken = once(last, 'close')
    for (const response of waiting.slice(3)) response.end()
    await taken
    const third = ask(2)
    await untilAsked(7)
    expect(entered.slice(5)).toEqual([true, true])
    second.destroy()
    third.destroy()
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
