/** How many answers are on their way at once: one that its reader does not take stays in memory, and a reader may ask for many. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The streams of all pages that may be open, and as many questions as these ask at once. */
const MAX_ANSWERS = 96

export interface Crowd {
  /** False: there is no room for one more. */
  enter(request: IncomingMessage, response: ServerResponse): boolean
}

export function createCrowd(server: Server, maxAnswers: number = MAX_ANSWERS): Crowd {
  /** By connection: an answer that waits behind another one is not told when the connection ends. */
  const held = new Map<Socket, number>()
  let count = 0
  server.on('connection', (socket: Socket) => {
    held.set(socket, 0)
    socket.once('close', () => {
      count -= held.get(socket) ?? 0
      held.delete(socket)
    })
  })
  return {
    enter: ({ socket }, response) => {
      const mine = held.get(socket)
      if (mine === undefined || count >= maxAnswers) return false
      count++
      held.set(socket, mine + 1)
      response.once('close', () => {
        const left = held.get(socket)
        if (left === undefined) return
        count--
        held.set(socket, left - 1)
      })
      return true
    },
  }
}
