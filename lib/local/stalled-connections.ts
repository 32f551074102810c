import type { Server, Socket } from 'node:net'

/** How often the connections are looked at. */
const LOOK_MILLISECONDS_MAX = 15_000

/** Looks that a connection has to stand still for: time alone would blame a client for a process that was busy itself. */
const LOOKS_MIN = 8

/** What a connection had sent when it last went on, and the looks at it since then. */
type Progress = { readonly sentBytes: number; readonly looks: number }

/**
 * Closes each connection that takes nothing of what waits for it for so long. A slow reader is no such one, and neither is a
 * client that waits for an answer.
 * @returns what ends the watch.
 */
export function closeStalledConnections(server: Server, stalledMilliseconds: number): () => void {
  const progressOf = new Map<Socket, Progress>()
  server.on('connection', (socket: Socket) => {
    progressOf.set(socket, { sentBytes: 0, looks: 0 })
    socket.once('close', () => progressOf.delete(socket))
  })
  const lookMilliseconds = Math.min(LOOK_MILLISECONDS_MAX, stalledMilliseconds / LOOKS_MIN)
  const looksMax = Math.ceil(stalledMilliseconds / lookMilliseconds)
  const look = () => {
    for (const [socket, { sentBytes, looks }] of progressOf) {
      const sentNow = socket.bytesWritten - socket.writableLength
      if (socket.writableLength === 0 || sentNow !== sentBytes) {
        progressOf.set(socket, { sentBytes: sentNow, looks: 0 })
      } else if (looks + 1 >= looksMax) {
        socket.destroy()
      } else {
        progressOf.set(socket, { sentBytes, looks: looks + 1 })
      }
    }
  }
  const timer = setInterval(look, lookMilliseconds)
  timer.unref()
  return () => clearInterval(timer)
}
