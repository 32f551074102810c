import { createServer, type ServerResponse } from 'node:http'
import * as z from 'zod'
import { COMPLETION, STREAM_EVENTS } from './workload.ts'

/** Longer than any pause of the bench: an idle connection stays. */
const KEEP_ALIVE_MILLISECONDS = 60_000

const chatRequest = z.object({ stream: z.optional(z.boolean()) })

/** Milliseconds between two events; 0 writes each of them in a turn of the event loop of its own. */
const gapMilliseconds = Number(process.argv[2] ?? 0)

/** An upstream that answers at once, always the same. Runs in a process of its own and says its origin to its parent. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { stream } = chatRequest.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
    if (stream === true) {
      sendStream(response)
    } else {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': COMPLETION.length })
      response.end(COMPLETION)
    }
  })
})
server.keepAliveTimeout = KEEP_ALIVE_MILLISECONDS
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '')
})

function sendStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  const events = STREAM_EVENTS.values()
  let next = events.next()
  const send = () => {
    if (response.destroyed || next.done) {
      return
    }
    response.write(next.value)
    next = events.next()
    if (next.done) {
      response.end()
    } else if (gapMilliseconds > 0) {
      setTimeout(send, gapMilliseconds)
    } else {
      setImmediate(send)
    }
  }
  send()
}
