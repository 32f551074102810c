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

const named = (type: string, fields: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const WORDS = Array.from({ length: 20 }, (_, index) => `token-${index} `)

const MESSAGE = {
  id: 'msg_mock',
  type: 'message',
  role: 'assistant',
  model: HEAD.model,
  content: [],
  stop_reason: null,
}
const MESSAGE_USAGE = { input_tokens: 24, output_tokens: 1 }
const MESSAGE_EVENTS: readonly string[] = [
  named('message_start', { message: { ...MESSAGE, usage: MESSAGE_USAGE } }),
  named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...WORDS.map((text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
  named('content_block_stop', { index: 0 }),
  named('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 57 } }),
  named('message_stop'),
]

const PLACE = { item_id: 'msg_mock', output_index: 0, content_index: 0 }
const ITEM = {
  ...{ type: 'message', id: 'msg_mock', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text: WORDS.join(''), annotations: [], logprobs: [] }],
}
const RESPONSE = {
  id: 'resp_mock',
  object: 'response',
  created_at: HEAD.created,
  model: HEAD.model,
  status: 'in_progress',
}
const RESPONSE_USAGE = { input_tokens: 24, output_tokens: 57, total_tokens: 81 }
const RESPONSE_EVENTS: readonly string[] = [
  { type: 'response.created', response: { ...RESPONSE, output: [], usage: null } },
  { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, status: 'in_progress', content: [] } },
  ...WORDS.map((delta) => ({ type: 'response.output_text.delta', ...PLACE, delta, logprobs: [] })),
  { type: 'response.output_text.done', ...PLACE, text: WORDS.join(''), logprobs: [] },
  { type: 'response.output_item.done', output_index: 0, item: ITEM },
  { type: 'response.completed', response: { ...RESPONSE, status: 'completed', output: [ITEM], usage: RESPONSE_USAGE } },
].map(({ type, ...fields }, sequence_number) => named(type, { sequence_number, ...fields }))

/** 20 events, none of which reports usage, and the end. */
const CHAT_EVENTS: readonly string[] = [
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
    const { url = '' } = request
    const isOf = (name: string) => url.endsWith(`/${name}`)
    sendEvents(response, isOf('messages') ? MESSAGE_EVENTS : isOf('responses') ? RESPONSE_EVENTS : CHAT_EVENTS)
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
function sendEvents(response: ServerResponse, events: readonly string[], next = 0): void {
  const event = events[next]
  if (response.destroyed || event === undefined) {
    response.end()
    return
  }
  response.write(event)
  setImmediate(sendEvents, response, events, next + 1)
}
