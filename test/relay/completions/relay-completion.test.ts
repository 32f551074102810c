import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { payloadsOf, textsOf } from '../../core/relay/completion-chunks.ts'
import { CHAT, type RelayRig, startRelayRig } from '../../engines/relay-rig.ts'
import {
  chatAnswer,
  DONE,
  FINISH,
  type RelayUpstream,
  sendJson,
  sendStream,
  USAGE_CHUNK,
  word,
} from '../../engines/relay-upstream.ts'

const operation = 'create-completion'
const BODY = { model: CHAT, prompt: 'Once', max_tokens: 10 }

type Answer = Parameters<RelayUpstream['answerWith']>[0]

let rig: RelayRig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(async () => {
  await rig.close()
})

describe('an upstream that gives fewer completions than it was asked for', () => {
  const single: Answer = (response, { body }) => {
    const stream = body.stream === true
    return stream ? sendStream(response, word('one'), FINISH, USAGE_CHUNK, DONE) : sendJson(response, chatAnswer())
  }

  it.each([false, true])('is asked for the missing ones, and all of it is billed (stream: %s)', async (stream) => {
    const { id, key } = await rig.tenant('1')
    const before = rig.upstreams[0]?.calls.length
    rig.upstreams[0]?.answerWith(single)
    const { text } = await rig.send({ ...BODY, n: 3, stream }, { operation, key })
    const indexes = stream
      ? [...textsOf(text).keys()]
      : JSON.parse(text).choices.map(({ index }: { index: number }) => index)
    expect(indexes).toStrictEqual([0, 1, 2])
    expect(rig.upstreams[0]?.calls.slice(before).map(({ body }) => body.n)).toStrictEqual([3, 2, undefined])
    expect((await rig.rows(id))[0]).toMatchObject({ kind: 'settle', actual: 45_000n })
  })

  it.each([false, true])('is not asked more than three times (stream: %s)', async (stream) => {
    const before = rig.upstreams[0]?.calls.length ?? 0
    rig.upstreams[0]?.answerWith(single)
    const { statusCode, text } = await rig.send({ ...BODY, n: 4, stream }, { operation })
    expect(rig.upstreams[0]?.calls).toHaveLength(before + 3)
    if (stream) {
      expect(JSON.parse(payloadsOf(text).at(-1) ?? '')).toMatchObject({ error: { code: 'upstream_error' } })
    } else {
      expect(statusCode).toBe(502)
    }
  })
})

describe('many prompts', () => {
  it.each([false, true])('are asked for eight at a time, and answered in their order (stream: %s)', async (stream) => {
    let most = 0
    let held: (() => void)[] = []
    rig.upstreams[0]?.answerWith(async (response, { body }) => {
      const isLastOfWave = new Promise<void>((resolve) => held.push(resolve))
      most = Math.max(most, held.length)
      if (held.length === 8) {
        const wave = held
        held = []
        // Time for one more to come, if there were one.
        setImmediate(() => {
          for (const release of wave) {
            release()
          }
        })
      }
      await isLastOfWave
      const content: string = Object(body.messages)[0].content
      if (stream) {
        sendStream(response, word(content), FINISH, DONE)
      } else {
        sendJson(response, chatAnswer({ choices: [{ message: { content } }] }))
      }
    })
    const prompt = Array.from({ length: 40 }, (_, index) => `p${index}`)
    const { text } = await rig.send({ ...BODY, prompt, stream }, { operation })
    const texts = stream
      ? [...textsOf(text).values()].map((each) => each.text)
      : JSON.parse(text).choices.map((each: { text: string }) => each.text)
    expect(texts).toStrictEqual(prompt)
    expect(most).toBe(8)
  })
})
