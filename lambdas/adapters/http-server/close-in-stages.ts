import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** How much of a body that nobody wants is read before its connection is cut. */
type DiscardBounds = { readonly bytesMax: number; readonly milliseconds: number }

/** More than clients send that read no response before they have written everything; as long as nginx lingers (`lingering_time`). */
const DISCARD_BOUNDS: DiscardBounds = { bytesMax: 64 * 1024 * 1024, milliseconds: 30_000 }

/** The interval of checks of the bounds. */
const LOOK_MILLISECONDS = 50

/**
 * To be called before a response to a request whose body is not read (to its end). The connection ends after the response, in
 * stages: its sending side first, and the rest of the body is read and thrown away. A connection that is closed with unread bytes is
 * reset, and a client that writes as it goes would lose the response. Does nothing when the request is complete.
 */
export function closeInStages(response: ServerResponse, { bytesMax, milliseconds } = DISCARD_BOUNDS): void {
  const { req: request } = response
  if (request.complete) {
    return
  }
  const { socket } = request
  response.shouldKeepAlive = false
  // Node calls this after the last byte of the last response of a connection.
  socket.destroySoon = () => {
    const closeNow = () => Socket.prototype.destroySoon.call(socket)
    if (request.readableEnded) {
      closeNow()
      return
    }
    const bytesLast = socket.bytesRead + bytesMax
    const endsAt = performance.now() + milliseconds
    socket.end()
    // Counted at the socket, because Node drops the body of a request that nobody has read from without an event.
    const timer = setInterval(() => {
      if (socket.bytesRead > bytesLast || performance.now() > endsAt) {
        socket.destroy()
      }
    }, LOOK_MILLISECONDS).unref()
    socket.once('close', () => clearInterval(timer))
    request.once('end', closeNow)
    request.resume()
  }
}
