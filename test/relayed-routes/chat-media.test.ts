import { describe, expect, it } from '@jest/globals'
import { CHAT, chatAnswer, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

/** Prices are 1,000 and 2,000 credits per million: a token in is 1,000 millionths of a credit. */
const TOKEN = 1_000n
const CONTEXT = 8192n
const LOW = 2_833n
const HIGH = 48_169n

const image = (detail?: unknown) => ({
  type: 'image_url',
  image_url: { url: 'https://images.example.com/a.png', detail },
})
const file = { type: 'file', file: { file_id: 'file-1' } }

function bodyOf(...content: readonly object[]) {
  return { model: CHAT, max_tokens: 1, messages: [{ role: 'user', content }] }
}

const rig = useOpened(() =>
  startRelayRig({
    chat: { input_modalities: ['text', 'image', 'file'], image_tokens: { low: Number(LOW), high: Number(HIGH) } },
    channel: { pass_members: { chat: ['messages.content.video_url'] } },
  }),
)

describe('a chat model that takes images', () => {
  /** Tokens that were reserved for the input. The text around an image has fewer than 400 bytes. */
  async function reserved(...content: readonly object[]): Promise<bigint> {
    const { id, key } = await rig.tenant('10000')
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
    expect((await rig.send(bodyOf(...content), { key })).statusCode).toBe(200)
    const [row] = await rig.rows(id)
    return (row?.amount ?? 0n) / TOKEN
  }

  it('402: says what makes images cheaper, where they alone are too dear', async () => {
    const { key } = await rig.tenant('1')
    const messageOf = async (fields: object) => {
      const { statusCode, text } = await rig.send({ ...bodyOf(image()), ...fields }, { key })
      expect(statusCode).toBe(402)
      return String(JSON.parse(text).error.message)
    }
    expect(await messageOf({})).toMatch(/: make the prompt smaller \(fewer images, or low detail\)$/)
    expect(await messageOf({ n: 2 })).toMatch(/smaller \(fewer images, or low detail\) or request fewer completions$/)
  })

  it.each<[string, object, bigint]>([
    ['its low detail', image('low'), LOW],
    ['its high detail', image('high'), HIGH],
    ['the highest detail, where it asks for auto', image('auto'), HIGH],
    ['the highest detail, where it asks for none', image(), HIGH],
    ['the highest detail, where it asks for null', image(null), HIGH],
    [
      'the highest detail, where its url is bare',
      { type: 'image_url', image_url: 'https://images.example.com/a' },
      HIGH,
    ],
    ['the highest detail, where that is more than the context and the map lacks its own', image('original'), HIGH],
    ['the same, where its detail is a name of every object', image('constructor'), HIGH],
    ['the same, where its detail has another case', image('HIGH'), HIGH],
    ['the same, where its detail is no string', image(['low']), HIGH],
  ])('reserves for an image the most tokens of %s', async (_, part, least) => {
    const tokens = await reserved(part)
    expect(tokens).toBeGreaterThanOrEqual(least)
    expect(tokens).toBeLessThan(least + 400n)
  })

  it('reserves for each of several images, on top of the context where a file fills that', async () => {
    expect(await reserved(image('high'), image('high'), image('low'))).toBeGreaterThanOrEqual(2n * HIGH + LOW)
    const both = await reserved(image('low'), file, file, image('original'), image('original'))
    expect(both).toBeGreaterThanOrEqual(CONTEXT + LOW + 2n * HIGH)
    expect(both).toBeLessThan(CONTEXT + LOW + 2n * HIGH + 500n)
  })

  it('bills what the upstream counts for images above the context, and shows it', async () => {
    const { id, key } = await rig.tenant('10000')
    const usage = { prompt_tokens: 2 * Number(HIGH) + 20, completion_tokens: 1, total_tokens: 2 * Number(HIGH) + 21 }
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer({ usage })))
    const { text } = await rig.send(bodyOf(image(), image('high')), { key })
    const cost = (usage.prompt_tokens * 1_000 + 2_000) / 1_000_000
    expect(JSON.parse(text).usage.cost).toBe(cost)
    expect((await rig.balance(id)).spent).toBe(String(cost))
  })

  it('refuses a tenant whose balance does not cover the images', async () => {
    const { id, key } = await rig.tenant('10')
    expect((await rig.send(bodyOf(image()), { key })).statusCode).toBe(402)
    expect(await rig.rows(id)).toStrictEqual([])
  })

  it.each<[string, object]>([
    ['a video', { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }],
    ['a video beside a text', { type: 'text', text: 'a', video_url: { url: 'https://example.com/a.mp4' } }],
  ])('refuses %s, which it does not take, before any money is moved', async (_, part) => {
    const { id, key } = await rig.tenant('10000')
    const calls = rig.upstreams[0]?.calls.length
    const { statusCode, text } = await rig.send(bodyOf(image(), part), { key })
    expect({ statusCode, error: JSON.parse(text).error }).toStrictEqual({
      statusCode: 400,
      error: {
        message: `the model ${CHAT} does not take input of the kind video: leave this part out, or use a model whose \`input_modalities\` have video`,
        type: 'invalid_request_error',
        param: 'messages.0.content.1',
        code: null,
      },
    })
    expect(await rig.rows(id)).toStrictEqual([])
    expect(rig.upstreams[0]?.calls).toHaveLength(calls ?? 0)
  })
})
