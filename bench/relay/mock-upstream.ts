import { createServer, type ServerResponse } from 'node:http'

/** Longer than any pause of the bench: an idle connection stays. */
const KEEP_ALIVE_MILLISECONDS = 60_000

const HEAD = { id: 'chatcmpl-mock-0000000000000000000000', created: 1_700_000_000, model: 'gpt-mock' }
const SENTENCE =
  'The quick brown fox jumps over the lazy dog while the gateway in the middle counts tokens, ' +
  'checks quotas and passes every single byte along unchanged, which is all that we ask of it here. ' +
  'This sentence only pads the body to a realistic size.'

/** 561 bytes. */
const COMPLETION = JSON.stringify({
  ...{ id: HEAD.id, object: 'chat.completion', created: HEAD.created, model: HEAD.model },
  choices: [{ index: 0, message: { role: 'assistant', content: SENTENCE }, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 24, completion_tokens: 57, total_tokens: 81 },
  system_fingerprint: 'fp_mock',
})

/** 20 events, none of which reports usage, and the end. */
const EVENTS: readonly string[] = [
  ...Array.from({ length: 20 }, (_, index) => {
    const isLast = index === 19
    const delta = isLast ? {} : index === 0 ? { role: 'assistant', content: 'token ' } : { content: `token-${index} ` }
    const choices = [{ index: 0, delta, finish_reason: isLast ? 'stop' : null }]
    return `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices })}\n\n`
  }),
  'data: [DONE]\n\n',
]

/** An upstream that responds at once, always the same. It is a process of its own and tells its origin to its parent. */
const server = createServer(async (request, response) => {
  const { stream } = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'))
  if (stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
    sendEvents(response)
  } else {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(COMPLETION) }
    response.writeHead(200, headers).end(COMPLETION)
  }
})
server.keepAliveTimeout = KEEP_ALIVE_MILLISECONDS
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '')
})

/** Each event in a turn of the event loop of its own. */
function sendEvents(response: ServerResponse, next = 0): void {
  const event = EVENTS[next]
  if (response.destroyed || event === undefined) {
    response.end()
    return
  }
  response.write(event)
  setImmediate(sendEvents, response, next + 1)
}
