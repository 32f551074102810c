import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CHAT, type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import {
  chatAnswer,
  chatEvent,
  DONE,
  FINISH,
  openStream,
  sendJson,
  sendStream,
  USAGE_CHUNK,
  word,
} from '../engines/relay-upstream.ts'

const operation = 'create-completion'

let rig: RelayRig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(async () => {
  await rig.close()
})

/** Refuses the prompt `bad` once the good ones were answered. */
function refuseLast(
  goodPrompts: number,
  { status = 400, answerGood = (r) => sendJson(r, chatAnswer()) }: Refusing = {},
) {
  const answered = Promise.withResolvers<void>()
  let count = 0
  rig.upstreams[0]?.answerWith(async (response, { text }) => {
    if (text.includes('bad')) {
      await answered.promise
      return sendJson(response, REFUSAL, status)
    }
    answerGood(response)
    count += 1
    if (count === goodPrompts) {
      // Time for the gateway to read what was sent; nothing tells from outside when it has.
      setTimeout(() => answered.resolve(), 50)
    }
  })
}

type Refusing = { readonly status?: number; readonly answerGood?: (response: ServerResponse) => void }

const REFUSAL = '{"error":{"message":"no"}}'
const BODY = { model: CHAT, prompt: ['one', 'two', 'three', 'bad'] }

/** Three times 9 tokens at 1,000 and 3 at 2,000 per million. */
const THREE_ANSWERS = { held: '0', spent: '0.045' }

const whole = (response: ServerResponse) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE)

describe('a prompt that the upstream refuses among others', () => {
  it.each([
    ['whole', false, undefined],
    ['as a stream', true, whole],
    ['as a stream without a content type', true, withoutType],
    ['as a stream whose connection stays open', true, unended],
    ['whole where a stream was asked for', true, undefined],
  ])('fails the request, and bills the prompts that were answered before it (%s)', async (_, stream, answerGood) => {
    const { id, key } = await rig.tenant('10')
    refuseLast(3, answerGood === undefined ? {} : { answerGood })
    const { statusCode, text } = await rig.send({ ...BODY, stream }, { operation, key })
    expect({ statusCode, text }).toStrictEqual({ statusCode: 400, text: REFUSAL })
    expect(await rig.balance(id)).toMatchObject(THREE_ANSWERS)
    expect((await rig.rows(id)).map(({ kind }) => kind)).toStrictEqual(['settle', 'reserve'])
  })

  it('does not bill a stream that had not come to its end, nor sends what waits for its turn', async () => {
    const { id, key } = await rig.tenant('10')
    const before = rig.upstreams[0]?.calls.length ?? 0
    const prompt = ['bad', ...Array.from({ length: 11 }, (_, index) => `good ${index}`)]
    refuseLast(7, { answerGood: (response) => openStream(response).write(word('Hi')) })
    expect((await rig.send({ ...BODY, prompt, stream: true }, { operation, key })).statusCode).toBe(400)
    expect(await rig.balance(id)).toStrictEqual({ available: '10', held: '0', spent: '0' })
    expect(rig.upstreams[0]?.calls).toHaveLength(before + 8)
  })

  it('is told in its own status although the stream of another has failed', async () => {
    const { id, key } = await rig.tenant('10')
    const error = chatEvent({ error: { message: 'overloaded' } })
    refuseLast(3, { answerGood: (response) => sendStream(response, error) })
    const { statusCode, text } = await rig.send({ ...BODY, stream: true }, { operation, key })
    expect({ statusCode, text }).toStrictEqual({ statusCode: 400, text: REFUSAL })
    expect(await rig.balance(id)).toMatchObject({ spent: '0' })
  })

  it.each([
    [409, false],
    [409, true],
    [422, false],
  ])('of status %d is not tried again by SDKs, because the others were billed (stream: %s)', async (status, stream) => {
    const { id, key } = await rig.tenant('10')
    refuseLast(3, { status, answerGood: stream ? whole : (response) => sendJson(response, chatAnswer()) })
    const { statusCode, headers } = await rig.send({ ...BODY, stream }, { operation, key })
    expect(statusCode).toBe(status)
    expect(headers).toMatchObject({ 'x-should-retry': 'false', 'content-type': 'application/json' })
    expect(await rig.balance(id)).toMatchObject(THREE_ANSWERS)
  })

  it.each([false, true])('alone costs nothing, and may be tried again (stream: %s)', async (stream) => {
    const { id, key } = await rig.tenant('10')
    rig.upstreams[0]?.answerWith((response) => sendJson(response, REFUSAL, 409))
    const { statusCode, headers } = await rig.send({ ...BODY, prompt: 'bad', stream }, { operation, key })
    expect(statusCode).toBe(409)
    expect(headers).not.toHaveProperty('x-should-retry')
    expect(await rig.balance(id)).toStrictEqual({ available: '10', held: '0', spent: '0' })
  })
})

function withoutType(response: ServerResponse): void {
  response.writeHead(200).end(word('Hi') + FINISH + USAGE_CHUNK + DONE)
}

function unended(response: ServerResponse): void {
  openStream(response).write(word('Hi') + FINISH + USAGE_CHUNK + DONE)
}
