import type { Server, Socket } from 'node:net'

/** The interval of checks. */
const LOOK_MILLISECONDS_MAX = 15_000

/** Consecutive checks without progress after which a connection has stalled. Time alone would blame clients for a busy process. */
const LOOKS_MIN = 8

/** The bytes that a connection had sent at its last progress, and the checks since then. */
type Progress = { readonly sentBytes: number; readonly looks: number }

/**
 * Closes connections that read nothing of their pending bytes for this long. Slow readers and clients that wait for a response are left
 * alone.
 * @returns a function that ends the checks.
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
