import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import {
  CHAT,
  chatAnswer,
  DONE,
  FINISH,
  openStream,
  sendJson,
  sendStream,
  USAGE_CHUNK,
  word,
} from '../engines/relay-rig.ts'
import { parseFraming } from '../engines/stream-handler.ts'
import { type DeployedRelay, type RelayedOperation, startDeployedRelay } from './deployed-relay.ts'
import type { Connection } from './runtime-api.ts'
import type { Invoked } from './start-function.ts'

let relay: DeployedRelay
let tenant: { readonly id: string; readonly key: string }

beforeAll(async () => {
  relay = await startDeployedRelay()
}, 120_000)
beforeEach(async () => {
  tenant = await relay.tenant()
})
afterAll(() => relay.close())

const EMBEDDING = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
  model: 'upstream-embedding',
  usage: { prompt_tokens: 9, total_tokens: 9 },
}

type Route = [RelayedOperation, object, object, bigint]

const MESSAGES = [{ role: 'user', content: 'Say hi' }]

/** A request of a route of each kind of model, an upstream's whole answer to it, and what that costs. */
const ROUTES: readonly [Route, ...Route[]] = [
  ['create-chat-completion', { model: CHAT, messages: MESSAGES, max_tokens: 100 }, chatAnswer(), 15_000n],
  ['create-completion', { model: CHAT, prompt: 'Say hi' }, chatAnswer(), 15_000n],
  ['create-embedding', { model: 'text-embedding-3-small', input: 'Say hi' }, EMBEDDING, 9_000n],
  [
    'create-image',
    { model: 'image-v3', prompt: 'a city' },
    { created: 1, data: [{ url: 'https://a.example/1' }] },
    40_000n,
  ],
]

/** Requests for streams. */
const STREAMS: readonly [RelayedOperation, object][] = [
  ['create-chat-completion', { model: CHAT, messages: MESSAGES, max_tokens: 100, stream: true }],
  ['create-completion', { model: CHAT, prompt: 'Say hi', stream: true }],
]
const [[CHAT_STREAM, CHAT_BODY] = ['create-chat-completion', {}] as const] = STREAMS

/** What USAGE comes to: 9 tokens at 1,000 and 3 at 2,000 per million. */
const COST = 15_000n

/** What a function keeps back of its time for the settlement. */
const SETTLING_MILLISECONDS = 95_000

function answerOf({ raw, contentType, isWhole }: Invoked) {
  expect(contentType).toBe('application/vnd.awslambda.http-integration-response')
  const { statusCode, headers, body } = parseFraming(raw, { isCut: !isWhole })
  return { statusCode, headers, text: body.toString('utf8') }
}

/** The one row of this test's tenant, which has nothing locked any more. */
async function settlement() {
  const rows = await relay.rows(tenant.id)
  expect(rows).toHaveLength(1)
  expect(await relay.held(tenant.id)).toBe('0')
  return rows[0]
}

/** Resolves when the request of this test is settled. @throws Error when it is not for too long, as without a process. */
async function settled(): Promise<void> {
  const lastLook = Date.now() + 30_000
  while ((await relay.rows(tenant.id)).length === 0) {
    if (Date.now() > lastLook) {
      throw new Error('nothing was settled for half a minute')
    }
    await pause(20)
  }
}

/** Reads the first bytes, and no more before the given event. The function has three seconds before it keeps the rest back. */
function readingTooSlowly(event: () => Promise<void>) {
  let isHeld = false
  const read = async () => {
    if (!isHeld) {
      isHeld = true
      await event()
    }
  }
  return { read, remainingMilliseconds: SETTLING_MILLISECONDS + 3_000 }
}

/** An invocation that Lambda takes for a good one, in a process that goes on. */
const GOOD = { isWhole: true, failure: undefined, endsProcess: false }

describe.each(ROUTES)('%s on Lambda’s runtime client', (operation, body, answer, cost) => {
  it('200: sends its prelude and its body, and is billed', async () => {
    relay.upstream.answerWith((response) => sendJson(response, answer))
    const invoked = await relay.send(operation, body, { key: tenant.key })
    expect(invoked).toMatchObject(GOOD)
    expect(answerOf(invoked)).toMatchObject({ statusCode: 200, headers: { 'content-type': 'application/json' } })
    expect(await settlement()).toMatchObject({ kind: 'settle', actual: cost })
  })

  it('401: refuses who has no key, in the same framing', async () => {
    const invoked = await relay.send(operation, body)
    expect(invoked).toMatchObject(GOOD)
    expect(answerOf(invoked)).toMatchObject({ statusCode: 401, text: expect.stringContaining('invalid_api_key') })
  })

  it('400: refuses what is no request, and locks nothing', async () => {
    const invoked = await relay.send(operation, { ...body, model: 7 }, { key: tenant.key })
    expect(invoked).toMatchObject(GOOD)
    expect(answerOf(invoked).statusCode).toBe(400)
    expect(await relay.rows(tenant.id)).toEqual([])
  })

  it('502: tells of an upstream that breaks off, and gives the money back', async () => {
    relay.upstream.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"object":', () => response.destroy())
    })
    const invoked = await relay.send(operation, body, { key: tenant.key })
    expect(invoked).toMatchObject(GOOD)
    expect(answerOf(invoked).statusCode).toBe(502)
    expect(await settlement()).toMatchObject({ kind: 'release' })
  })

  it('is billed when its connection breaks under the answer, and serves the next request', async () => {
    relay.upstream.answerWith((response) => sendJson(response, answer))
    const broken = await relay.send(operation, body, { key: tenant.key, read: (_, connection) => connection.break() })
    expect(broken).toMatchObject({ isWhole: false, endsProcess: false })
    expect(await settlement()).toMatchObject({ kind: 'settle', actual: cost })
    expect(await relay.send(operation, body, { key: tenant.key })).toMatchObject(GOOD)
  })
})

describe.each(STREAMS)('a stream of %s on Lambda’s runtime client', (operation, body) => {
  const send = (reader = {}) => relay.send(operation, body, { key: tenant.key, ...reader })

  it('sends its prelude before its first chunk, and each chunk before the next', async () => {
    const came: string[] = []
    const first = Promise.withResolvers<void>()
    relay.upstream.answerWith(async (response) => {
      openStream(response).write(word('Hi'))
      await first.promise
      response.end(`${word('there')}${FINISH}${USAGE_CHUNK}${DONE}`)
    })
    const read = (bytes: Buffer) => {
      came.push(bytes.toString())
      if (bytes.includes('Hi')) {
        first.resolve()
      }
    }
    const invoked = await send({ read })
    expect(invoked).toMatchObject(GOOD)
    expect(came[0]).toMatch(/^\{"statusCode":200/)
    expect(came.findIndex((text) => text.includes('Hi'))).toBeLessThan(came.findIndex((text) => text.includes('there')))
    expect(answerOf(invoked).text).toMatch(/Hi[\s\S]*there[\s\S]*data: \[DONE\]\n\n$/)
    expect(await settlement()).toMatchObject({ kind: 'settle', actual: COST })
  })

  it('ends with an error and without [DONE] when its upstream breaks off, billed for what came', async () => {
    relay.upstream.answerWith((response) => {
      openStream(response).write(word('Hi'), () => response.destroy())
    })
    const invoked = await send()
    expect(invoked).toMatchObject(GOOD)
    expect(answerOf(invoked).text).toMatch(/Hi[\s\S]*"code":"upstream_error"\}\}\n\n$/)
    const row = await settlement()
    expect(row).toMatchObject({ kind: 'settle' })
    expect((row?.actual ?? 0n) > 0n && (row?.actual ?? 0n) < (row?.amount ?? 0n)).toBe(true)
  })

  it('has the error that its upstream reports after the first byte, billed for what came', async () => {
    const error = 'data: {"error":{"message":"The server had an error","type":"server_error"}}\n\n'
    relay.upstream.answerWith((response) => sendStream(response, word('Hi'), error))
    const invoked = await send()
    expect(invoked).toMatchObject(GOOD)
    expect(answerOf(invoked).text).toMatch(/Hi[\s\S]*The server had an error[^\n]*\n\n$/)
    expect(await settlement()).toMatchObject({ kind: 'settle' })
  })

  it('whose client has gone is read to its end and billed by its usage: the platform takes the bytes as before, and tells nothing', async () => {
    const left = Promise.withResolvers<void>()
    let isReadToItsEnd = false
    relay.upstream.answerWith(async (response) => {
      openStream(response).write(word('Hi'))
      await left.promise
      // More than all buffers on the way hold: it is sent only if somebody reads it.
      for (let sent = 0; sent < 100; sent += 1) {
        if (!response.write(word('x'.repeat(100_000)))) {
          await once(response, 'drain')
        }
      }
      response.end(`${FINISH}${USAGE_CHUNK}${DONE}`)
      await once(response, 'finish')
      isReadToItsEnd = true
    })
    const read = (bytes: Buffer) => {
      if (bytes.includes('Hi')) {
        left.resolve()
      }
    }
    expect(await send({ read })).toMatchObject(GOOD)
    expect(isReadToItsEnd).toBe(true)
    expect(await settlement()).toMatchObject({ kind: 'settle', actual: COST })
  })

  it.each(['break', 'refuse'] as const)(
    'is billed by its usage when the platform ends its connection early (%s), and serves the next request',
    async (how) => {
      const ended = Promise.withResolvers<void>()
      relay.upstream.answerWith(async (response) => {
        openStream(response).write(word('Hi'))
        await ended.promise
        await pause(50)
        response.end(`${word('there')}${FINISH}${USAGE_CHUNK}${DONE}`)
      })
      const read = (bytes: Buffer, connection: Connection) => {
        if (bytes.includes('Hi')) {
          connection[how]()
          ended.resolve()
        }
      }
      expect(await send({ read })).toMatchObject({ isWhole: false, endsProcess: false })
      expect(await settlement()).toMatchObject({ kind: 'settle', actual: COST })
      relay.upstream.answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
      expect(await send()).toMatchObject(GOOD)
    },
  )
})

describe('a reader past the limit, on Lambda’s runtime client,', () => {
  it('of a stream is billed before the function’s time is up, and told by an event that its answer ends there', async () => {
    const words = word('x'.repeat(100_000))
    relay.upstream.answerWith(async (response) => {
      openStream(response)
      for (let sent = 0; sent < 400; sent += 1) {
        if (!response.write(words)) {
          await once(response, 'drain')
        }
      }
      response.end(`${FINISH}${USAGE_CHUNK}${DONE}`)
    })
    const reader = readingTooSlowly(settled)
    const invoked = await relay.send(CHAT_STREAM, CHAT_BODY, { key: tenant.key, ...reader })
    expect(invoked).toMatchObject(GOOD)
    expect(answerOf(invoked).text).toMatch(
      /x"\},"finish_reason":null\}\]\}\n\ndata: \{"error":[^\n]*"code":"answer_timeout"\}\}\n\n$/,
    )
    expect(await settlement()).toMatchObject({ kind: 'settle', actual: COST })
  })

  it('of a whole answer is billed before the function’s time is up, and its client sees that it is cut', async () => {
    const embedding = Array.from({ length: 2_000_000 }, () => 0.123456)
    const data = [{ object: 'embedding', index: 0, embedding }]
    relay.upstream.answerWith((response) => sendJson(response, { ...EMBEDDING, data }))
    const [operation, body, , cost] = ROUTES[2] ?? ROUTES[0]
    const invoked = await relay.send(operation, body, { key: tenant.key, ...readingTooSlowly(settled) })
    expect(invoked).toMatchObject(GOOD)
    const { headers, text } = answerOf({ ...invoked, isWhole: false })
    expect(text.length).toBeLessThan(Number(headers['content-length']))
    expect(await settlement()).toMatchObject({ kind: 'settle', actual: cost })
  })
})
