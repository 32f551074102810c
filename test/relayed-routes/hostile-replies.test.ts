import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Operation } from '#routes/index.ts'
import { CHAT, FINISH, type RelayRig, startRelayRig, USAGE, word } from '../engines/relay-rig.ts'
import { BILLED, errorIn, relayedRoute } from '../engines/relayed-samples.ts'

const KEY = 'sk-up/Q9"x\\8vT2mZ'

let rig: RelayRig
beforeAll(async () => {
  process.env.HOSTILE_UPSTREAM_KEY = KEY
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
  rig = await startRelayRig({ channel: { api_key: '${HOSTILE_UPSTREAM_KEY}' } })
})
afterAll(async () => {
  delete process.env.HOSTILE_UPSTREAM_KEY
  await rig.close()
})

const CHATS = ['create-chat-completion', 'create-completion'] as const

const send = (operation: Operation, members: object = {}) =>
  rig.send({ ...relayedRoute(operation).body, ...members }, { operation })

function answerInPieces(status: number, contentType: string, text: string, pieceBytes = 5) {
  rig.upstreams[0]?.answerWith(async (response) => {
    response.writeHead(status, { 'content-type': contentType })
    await writeInPieces(response, text, pieceBytes)
    response.end()
  })
}

async function writeInPieces(response: ServerResponse, text: string, pieceBytes: number): Promise<void> {
  for (let start = 0; start < text.length; start += pieceBytes) {
    response.write(text.slice(start, start + pieceBytes))
    await new Promise(setImmediate)
  }
}

const answer = (text: string) => answerInPieces(200, 'application/json', text, 1 << 20)

const unicode = Array.from(KEY, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const FORMS = [
  ['as it is', KEY],
  ['escaped as JSON', JSON.stringify(KEY).slice(1, -1)],
  ['with every character escaped', unicode],
  ['in a url', encodeURIComponent(KEY)],
] as const

/** The key in any form that a client could read it in. */
function holdsKey(text: string): boolean {
  const unescaped = text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return [text, unescaped].some((each) => FORMS.some(([, form]) => each.includes(form)))
}

describe("an upstream's refusal that repeats the key it was called with", () => {
  it.each(BILLED.flatMap((route) => FORMS.map(([name, form]) => ({ operation: route.operation, name, form, route }))))(
    '$operation: reaches the client without it, $name',
    async ({ operation, form, route }) => {
      answerInPieces(400, 'application/json', `{"error":{"message":"Authorization: Bearer ${form}!","code":"bad"}}`)
      const { statusCode, text } = await send(operation)
      expect(statusCode).toBe(400)
      const message = 'Authorization: Bearer [redacted]!'
      expect(JSON.parse(text)).toStrictEqual(errorIn(route, { message, code: 'bad' }))
    },
  )

  it.each(CHATS)('%s: reaches the client of a stream without it, after the first byte', async (operation) => {
    const error = JSON.stringify({ error: { message: `Bearer ${KEY} ${unicode} is over its limit` } })
    answerInPieces(200, 'text/event-stream', `${word('Hi')}data: ${error}\n\n`)
    const { statusCode, text } = await send(operation, { stream: true })
    expect(statusCode).toBe(200)
    expect(text).toContain('is over its limit')
    expect(text).toContain('[redacted]')
    expect(holdsKey(text)).toBe(false)
  })
})

const DEPTH = 100_000
const nested = (open: string, inner: string, close: string) => open.repeat(DEPTH) + inner + close.repeat(DEPTH)
const ARRAYS = nested('[', '', ']')
const OBJECTS = nested('{"message":', '{}', '}')
const DELTAS = nested('{"delta":', '"x"', '}')
const CHOICE = '{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}'

/** What the inputs of a sample get. */
const VECTOR = '{"index":0,"embedding":[1]}'
const VECTORS = `${VECTOR},{"index":1,"embedding":[1]}`

/** Replies of each wire, nested without end in every place that is looked at, and in one that is not. */
const DEEP = {
  chat: [ARRAYS, OBJECTS, DELTAS].flatMap((deep) => [
    deep,
    `{"choices":${deep}}`,
    `{"choices":[${deep}]}`,
    `{"choices":[{"index":0,"message":${deep},"finish_reason":"stop"}]}`,
    `{"choices":[{"index":0,"message":{"content":${deep}},"finish_reason":"stop"}]}`,
    `{"choices":[{"index":0,"message":{"content":"a","tool_calls":${deep}},"finish_reason":"stop"}]}`,
    `{"choices":[${CHOICE}],"usage":${deep}}`,
    `{"choices":[${CHOICE}],"id":${deep}}`,
    `{"choices":[${CHOICE}],"error":${deep}}`,
    `{"error":${deep}}`,
  ]),
  embedding: [ARRAYS, OBJECTS].flatMap((deep) => [
    deep,
    `{"data":${deep}}`,
    `{"data":[${VECTOR},${deep}]}`,
    `{"data":[${VECTOR},{"index":1,"embedding":${deep}}]}`,
    `{"data":[${VECTOR},{"index":${deep},"embedding":[1]}]}`,
    `{"data":[${VECTORS}],"usage":${deep}}`,
    `{"data":[${VECTORS}],"model":${deep}}`,
  ]),
  image: [ARRAYS, OBJECTS].flatMap((deep) => [
    deep,
    `{"data":${deep}}`,
    `{"data":[${deep}]}`,
    `{"data":[{"url":${deep}}]}`,
    `{"created":${deep},"data":[{"url":"https://example.com/a.png"}]}`,
  ]),
}

const DEEP_CASES = BILLED.flatMap(({ operation, kind }) =>
  (kind === 'chat' ? [false, true] : [false]).map((stream) => ({ operation, kind, stream })),
)

describe('a reply that is nested 100,000 deep', () => {
  it.each(DEEP_CASES)(
    '$operation, streamed: $stream, is relayed or is the upstream’s fault, never ours',
    async ({ operation, kind, stream }) => {
      const statuses = new Map<string, number>()
      for (const text of DEEP[kind]) {
        answer(text)
        const { statusCode } = await send(operation, stream ? { stream } : {})
        statuses.set(`${text.slice(0, 60)} of ${text.length}`, statusCode)
      }
      expect([...statuses].filter(([, status]) => status !== 200 && status !== 502)).toEqual([])
    },
  )

  it('as events of a stream breaks nothing but the stream', async () => {
    for (const deep of [ARRAYS, OBJECTS, DELTAS]) {
      for (const operation of CHATS) {
        const events = [`{"choices":[${deep}]}`, `{"choices":[{"index":0,"delta":${deep}}]}`, `{"error":${deep}}`]
        for (const event of events) {
          answerInPieces(200, 'text/event-stream', `${word('Hi')}data: ${event}\n\n${FINISH}data: [DONE]\n\n`, 1 << 20)
          expect((await send(operation, { stream: true })).statusCode).toBe(200)
        }
      }
    }
  })

  it.each(BILLED)('$operation: as a refusal is relayed or a 502', async ({ operation }) => {
    answerInPieces(400, 'application/json', `{"error":${ARRAYS}}`, 1 << 20)
    expect([400, 502]).toContain((await send(operation)).statusCode)
  })
})

/** Three times, two of them so that only a parser sees it. */
const MODELS = '"model":"internal-1","mod\\u0065l":"internal-2","\\u006dodel" : "internal-3"'

describe('a reply that names its model more than once', () => {
  it.each([
    ['create-chat-completion', CHAT, `{${MODELS},"choices":[${CHOICE}],"usage":${JSON.stringify(USAGE)}}`],
    ['create-chat-completion', CHAT, `{"choices":[${CHOICE}],"usage":${JSON.stringify(USAGE)},${MODELS}}`],
    ['create-completion', CHAT, `{${MODELS},"choices":[${CHOICE}],"usage":${JSON.stringify(USAGE)}}`],
    ['create-embedding', 'text-embedding-3-small', `{"data":[${VECTORS}],${MODELS}}`],
    ['create-image', 'image-v2', `{${MODELS},"data":[{"url":"https://example.com/a.png"}]}`],
  ] as const)('%s: never shows one of the upstream’s', async (operation, model, text) => {
    answer(text)
    const sent = await send(operation)
    expect(sent.statusCode).toBe(200)
    expect(sent.text).not.toContain('internal')
    expect(JSON.parse(sent.text).model).toBe(model)
  })

  it.each([
    ['on one line', `data: {${MODELS},"choices":[{"index":0,"delta":{"content":"a"}}]}`],
    [
      'over several lines',
      `data: {${MODELS.replaceAll(',', ',\ndata: ')},\ndata: "choices":[{"index":0,"delta":{"content":"a"}}]}`,
    ],
    [
      'as objects over several lines',
      `data: {"model":{"a":\ndata: "internal-1"}\ndata: ,"choices":[{"index":0,"delta":{"content":"a"}}]}`,
    ],
    ['beside an error', `data: {${MODELS},"error":{"message":"overloaded"}}`],
  ])('create-chat-completion: never shows one of a stream, %s', async (_, event) => {
    answerInPieces(200, 'text/event-stream', `${word('Hi')}${event}\n\n${FINISH}data: [DONE]\n\n`)
    const { text } = await send('create-chat-completion', { stream: true })
    expect(text).toContain(CHAT)
    expect(text).not.toMatch(/internal|upstream-chat/)
  })
})
