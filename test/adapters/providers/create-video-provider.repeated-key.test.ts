import { describe, expect, it } from 'vitest'
import { createVideoProvider } from '#adapters/providers/create-video-provider.ts'
import { readVideoResult } from '#adapters/providers/read-video-result.ts'
import { reportedGenerationSeconds } from '#adapters/providers/reported-generation-time.ts'
import type { VideoProvider } from '#adapters/providers/video/video-provider.ts'
import { spliceInjected } from '#core/json/json-fields.ts'
import { p1Channel, p2Channel } from './provider-samples.ts'
import { ANY_SUBMIT } from './replay.ts'

const KEY = 'sk-up/Q9"x\\8vT2mZ'

const CHANNELS = [
  ['p1', p1Channel('https://up.example')],
  ['p2 direct', p2Channel('https://up.example', 'direct')],
  ['p2 proxy', p2Channel('https://up.example', 'proxy')],
] as const

type Channel = (typeof CHANNELS)[number][1]

/** An upstream that gives every call the same answer. */
function providerOf(channel: Channel, status: number, text: string): VideoProvider {
  const http = { send: async () => ({ kind: 'response', status, headers: {}, text }) as const, close() {} }
  return createVideoProvider(channel, { credential: async () => KEY, http })
}

const unicode = Array.from(KEY, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const FORMS = [JSON.stringify(KEY).slice(1, -1), unicode, encodeURIComponent(KEY)]
const CASES = CHANNELS.flatMap(([name, channel]) => FORMS.map((form) => [name, channel, form] as const))

describe('a video upstream that repeats the key it was called with', () => {
  it.each(CASES)('%s: is refused a submit without the key in `error` or in the response', async (_, channel, form) => {
    const text = `{"code":"InvalidParameter","message":"bad: Bearer ${form}","error":{"message":"bad: Bearer ${form}"}}`
    const outcome = await providerOf(channel, 400, text).submit(ANY_SUBMIT)
    expect(outcome).toEqual({
      kind: 'rejected',
      message: 'bad: Bearer [redacted]',
      text: text.replaceAll(form, '[redacted]'),
    })
  })

  it.each(CASES)('%s: is polled without the key in `error` or in a member passed through', async (_, channel, form) => {
    const failed = { p1: 'FAILED', p2: 'failed' }[channel.provider]
    const text = `{"output":{"task_status":"${failed}","message":"no: ${form}"},"status":"${failed}","error":{"message":"no: ${form}"},"headers":"${form}"}`
    const outcome = await providerOf(channel, 200, text).poll('task-1')
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: 'no: [redacted]',
      text: text.replaceAll(form, '[redacted]'),
    })
  })

  it.each(CHANNELS)('%s: is logged without the key', async (_, channel) => {
    const provider = createVideoProvider(channel, {
      credential: async () => 'sk-live-1234567890',
      http: {
        send: async () => ({ kind: 'response', status: 500, headers: {}, text: '{"code":"sk-live-1234567890"}' }),
        close() {},
      },
    })
    expect(JSON.stringify(await provider.submit(ANY_SUBMIT))).not.toContain('sk-live')
    expect(JSON.stringify(await provider.poll('task-1'))).not.toContain('sk-live')
  })
})

const DEPTH = 100_000
const nested = (open: string, inner: string, close: string) => open.repeat(DEPTH) + inner + close.repeat(DEPTH)

describe('a video upstream whose answer is nested 100,000 deep', () => {
  const deeps = [
    nested('[', '', ']'),
    ...['output', 'data', 'error', 'upstream_response', 'result', 'message'].map((name) =>
      nested(`{"${name}":`, '{}', '}'),
    ),
  ]
  const [list = '', output = ''] = deeps
  const texts = [
    ...deeps,
    `{"output":${list},"data":${list},"error":${list},"id":"t","task_id":"t"}`,
    `{"output":{"task_id":"t","task_status":"SUCCEEDED","video_url":${output}},"status":"succeeded","content":${list},"id":"t"}`,
  ]

  it.each(CHANNELS)(
    '%s: has an outcome, and its job a body',
    async (_, channel) => {
      for (const text of texts) {
        const [accepting, refusing] = [providerOf(channel, 200, text), providerOf(channel, 400, text)]
        expect(await accepting.submit(ANY_SUBMIT)).toHaveProperty('kind')
        expect(await refusing.submit(ANY_SUBMIT)).toHaveProperty('kind')
        expect(await accepting.poll('task-1')).toHaveProperty('kind')
        expect(typeof (await refusing.cancel('task-1'))).toBe('string')
        expect(readVideoResult(channel.provider, text)).toBeDefined()
        expect(reportedGenerationSeconds(channel, text)).toBeUndefined()
        expect(spliceInjected(text, { id: 'job' })).toContain('"id":"job"')
      }
    },
    60_000,
  )
})
