import type { Server, Socket } from 'node:net'

/** How often the connections are looked at. */
const LOOK_MILLISECONDS_MAX = 15_000

/** What a connection had sent when it last went on, and when that was. */
type Progress = { readonly sentBytes: number; readonly at: number }

/**
 * Closes each connection that takes nothing of what waits for it for so long. A slow reader is no such one, and neither is a
 * client that waits for an answer.
 * @returns what ends the watch.
 */
export function closeStalledConnections(server: Server, stalledMilliseconds: number): () => void {
  const progressOf = new Map<Socket, Progress>()
  server.on('connection', (socket: Socket) => {
    progressOf.set(socket, { sentBytes: 0, at: performance.now() })
    socket.once('close', () => progressOf.delete(socket))
  })
  const look = () => {
    const now = performance.now()
    for (const [socket, { sentBytes, at }] of progressOf) {
      const sentNow = socket.bytesWritten - socket.writableLength
      if (socket.writableLength === 0 || sentNow !== sentBytes) {
        progressOf.set(socket, { sentBytes: sentNow, at: now })
      } else if (now - at >= stalledMilliseconds) {
        socket.destroy()
      }
    }
  }
  const timer = setInterval(look, Math.min(LOOK_MILLISECONDS_MAX, stalledMilliseconds))
  timer.unref()
  return () => clearInterval(timer)
}
