import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerText, readFixture } from '../../adapters/providers/upstream-fixture.ts'
import { payloadsOf, textsOf } from '../../core/relay/completion-chunks.ts'
import { CHAT, type RelayRig, startRelayRig } from '../../engines/relay-rig.ts'
import {
  chatAnswer,
  chatEvent,
  DONE,
  FINISH,
  openStream,
  type RelayUpstream,
  sendJson,
  sendStream,
  USAGE_CHUNK,
  word,
} from '../../engines/relay-upstream.ts'

const operation = 'create-completion'
const BODY = { model: CHAT, prompt: 'Once', max_tokens: 10 }
const STREAMED = { ...BODY, stream: true }
const FREE_OF_CHARGE = { available: '1', held: '0', spent: '0' }

type Answer = Parameters<RelayUpstream['answerWith']>[0]

let rig: RelayRig

beforeAll(async () => {
  rig = await startRelayRig({ channels: 2, channel: { timeouts: { first_byte_seconds: 1 } } })
})
afterAll(async () => {
  await rig.close()
})
beforeEach(() => {
  for (const upstream of rig.upstreams) {
    upstream.answerWith((response) => sendJson(response, chatAnswer()))
  }
})

/** What the upstreams do with a chat call, by its prompt; every channel does the same. */
function answerPrompts(answers: Readonly<Record<string, Answer>>): void {
  for (const upstream of rig.upstreams) {
    upstream.answerWith((response, call) => {
      const prompt: string = Object(call.body.messages)[0].content
      return (answers[prompt] ?? answers.other)?.(response, call)
    })
  }
}

const callsSoFar = () => rig.upstreams.map(({ calls }) => calls.length)

/** An answer that has begun and does not end; tells when its reader lets go of it. */
function hangingStream(...events: readonly string[]) {
  const given = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const answer: Answer = (response) => {
    response.on('close', () => released.resolve())
    openStream(response).write(events.join('') || ': \n\n')
    given.resolve()
  }
  return { answer, given: given.promise, letGo: released.promise }
}

const broken: Answer = (response) => {
  openStream(response).write(': \n\n', () => response.destroy())
}

describe('a prompt that fails before the client has seen a byte', () => {
  it.each([
    ['create-completion 502: oai_err_500', 502, 'upstream_error', false],
    ['create-completion 502: oai_err_500', 502, 'upstream_error', true],
    ['create-completion 502: oai_err_401', 502, 'upstream_error', false],
    ['create-completion 429: oai_err_429_rate', 429, 'rate_limit_exceeded', true],
  ])('%s: fails all with status %i, and nothing is billed (%s, stream: %s)', async (title, status, code, stream) => {
    const { id, key } = await rig.tenant('1')
    const fixture = readFixture(title.split(': ')[1] ?? '')
    const sibling = hangingStream(word('Hi'))
    answerPrompts({
      bad: async (response) => {
        await sibling.given
        sendJson(response, answerText(fixture), fixture.response.status)
      },
      other: sibling.answer,
    })
    const answer = await rig.send({ ...BODY, prompt: ['good', 'bad'], stream }, { operation, key })
    expect(answer.statusCode).toBe(status)
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code } })
    expect(await rig.balance(id)).toStrictEqual(FREE_OF_CHARGE)
    expect((await rig.rows(id)).map(({ kind }) => kind)).toStrictEqual(['release', 'reserve'])
    await sibling.letGo
  })

  it.each([false, true])(
    'is told in the upstream’s own words, if they are about the request (stream: %s)',
    async (stream) => {
      const { id, key } = await rig.tenant('1')
      const fixture = readFixture('oai_err_400_context')
      const sibling = hangingStream(word('Hi'), FINISH)
      answerPrompts({
        long: async (response) => {
          await sibling.given
          sendJson(response, answerText(fixture), 400)
        },
        other: sibling.answer,
      })
      const body = { ...BODY, prompt: ['short', 'long'], stream }
      const { statusCode, text } = await rig.send(body, { operation, key })
      expect({ statusCode, text }).toStrictEqual({ statusCode: 400, text: answerText(fixture) })
      // What had come of the other prompt is known of a stream alone.
      const bill = stream ? { available: '0.964', held: '0', spent: '0.036' } : FREE_OF_CHARGE
      expect(await rig.balance(id)).toStrictEqual(bill)
      await sibling.letGo
    },
  )

  it('create-completion 504: an upstream that does not begin to answer', async () => {
    const { id, key } = await rig.tenant('1')
    answerPrompts({ silent: () => undefined })
    const { statusCode, headers } = await rig.send({ ...BODY, prompt: ['silent', 'other'] }, { operation, key })
    expect(statusCode).toBe(504)
    expect(headers).toMatchObject({ 'x-should-retry': 'false' })
    expect(await rig.balance(id)).toStrictEqual(FREE_OF_CHARGE)
  })

  it.each(['<html>', '[]', '{"choices":null}'])('create-completion 502: %s is no chat answer', async (text) => {
    answerPrompts({ other: (response) => sendJson(response, text) })
    expect((await rig.send(BODY, { operation })).statusCode).toBe(502)
    expect((await rig.send(STREAMED, { operation })).statusCode).toBe(502)
  })

  it('create-completion 502: an error inside of a stream, before anything else', async () => {
    const { id, key } = await rig.tenant('1')
    answerPrompts({ other: (response) => sendStream(response, chatEvent({ error: { message: 'x' } })) })
    expect((await rig.send(STREAMED, { operation, key })).statusCode).toBe(502)
    expect(await rig.balance(id)).toStrictEqual(FREE_OF_CHARGE)
  })

  it('goes to the next channel, the others untouched, when its stream breaks off before its first word', async () => {
    const [first, second] = rig.upstreams
    const before = callsSoFar()
    answerPrompts({ other: (response) => sendStream(response, word('good'), FINISH, USAGE_CHUNK, DONE) })
    first?.answerWith((response, call) =>
      call.text.includes('unlucky') ? broken(response, call) : sendStream(response, word('good'), FINISH, DONE),
    )
    const { text } = await rig.send({ ...STREAMED, prompt: ['lucky', 'unlucky'] }, { operation })
    expect([...textsOf(text).values()]).toStrictEqual([
      { text: 'good', reason: 'stop' },
      { text: 'good', reason: 'stop' },
    ])
    expect(first?.calls.length).toBe((before[0] ?? 0) + 2)
    expect(second?.calls.slice(before[1]).map(({ text: call }) => call.includes('unlucky'))).toStrictEqual([true])
  })

  it('create-completion 502: every channel breaks off its stream', async () => {
    const before = callsSoFar()
    answerPrompts({ other: broken })
    expect((await rig.send(STREAMED, { operation })).statusCode).toBe(502)
    expect(callsSoFar()).toStrictEqual(before.map((count) => count + 1))
  })
})

describe('a prompt that fails after the client has seen a byte', () => {
  /** Two prompts: the first hangs after some words, the second has some words and then fails as given. */
  async function failLate(fail: (response: ServerResponse) => void) {
    const { id, key } = await rig.tenant('1')
    const sibling = hangingStream(word('12345678'))
    const seen = Promise.withResolvers<void>()
    answerPrompts({
      bad: async (response) => {
        openStream(response).write(word('1234'))
        await seen.promise
        fail(response)
      },
      other: sibling.answer,
    })
    let received = ''
    const run = await rig.send(
      { ...STREAMED, prompt: ['good', 'bad'] },
      {
        operation,
        key,
        client: {
          read: (chunk) => {
            received += chunk.toString('utf8')
            if (received.includes('12345678') && received.includes('"1234"')) {
              seen.resolve()
            }
          },
        },
      },
    )
    await sibling.letGo
    return { ...run, id }
  }

  it('ends everything with one error event and no [DONE]', async () => {
    const { statusCode, text } = await failLate((response) => response.destroy())
    expect(statusCode).toBe(200)
    expect(payloadsOf(text).filter((payload) => payload.includes('"error"'))).toHaveLength(1)
    expect(JSON.parse(payloadsOf(text).at(-1) ?? '')).toStrictEqual({
      error: { message: expect.any(String), type: 'server_error', param: null, code: 'upstream_error' },
    })
    expect(text).not.toContain('[DONE]')
  })

  it('is told in the upstream’s own words', async () => {
    const error = { message: 'overloaded', type: 'server_error', param: null, code: 500 }
    const { text } = await failLate((response) => response.end(chatEvent({ error })))
    expect(JSON.parse(payloadsOf(text).at(-1) ?? '')).toStrictEqual({ error })
    expect(text).not.toContain('[DONE]')
  })

  it('is billed by what had come, once', async () => {
    const { id } = await failLate((response) => response.end(USAGE_CHUNK + chatEvent({ error: {} })))
    const rows = await rig.rows(id)
    expect(rows.map(({ kind }) => kind)).toStrictEqual(['settle', 'reserve'])
    // The failed prompt reported 9 and 3 tokens; of the other, two tokens had come, and its prompt.
    const prompt = Math.ceil(Buffer.byteLength(chatCallText('good')) / 4)
    expect(rows[0]?.actual).toBe(BigInt(9_000 + 6_000 + prompt * 1_000 + 2 * 2_000))
    expect(await rig.balance(id)).toMatchObject({ held: '0' })
  })

  function chatCallText(content: string): string {
    return JSON.stringify({
      model: CHAT,
      messages: [{ role: 'user', content }],
      max_tokens: 10,
      stream: true,
      stream_options: { include_usage: true },
    })
  }
})
