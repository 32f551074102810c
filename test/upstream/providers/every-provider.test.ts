import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { spliceInjected } from '#core/json/json-fields.ts'
import { p1 } from '#core/providers/p1.ts'
import { p2 } from '#core/providers/p2.ts'
import { VIDEO_PROVIDERS, videoProvider } from '#core/providers/registry.ts'
import { parseJson } from '#core/providers/reply-reading.ts'
import { readVideoResult } from '#lambdas/pipeline/step-context.ts'
import type { UpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { openVideoAccount, pollOutcome, type VideoAccount } from '#upstream/providers/video-account.ts'
import { p1Channel, p2Channel } from './provider-samples.ts'
import { ANY_SUBMIT, replay } from './replay.ts'
import { answerText, fixtureNames, readFixture } from './upstream-fixture.ts'

describe('openVideoAccount', () => {
  it.each([
    ['p1', p1Channel, '/api/v1/tasks/t'],
    ['p2 direct', (url: string) => p2Channel(url, 'direct'), '/api/v3/contents/generations/tasks/t'],
    ['p2 international', (url: string) => p2Channel(url, 'international'), '/api/v3/contents/generations/tasks/t'],
    ['p2 proxy', (url: string) => p2Channel(url, 'proxy'), '/v1/video/generations/t'],
  ])('speaks the wire of %s below the base url', async (_, channel, path) => {
    const { requests } = await replay({
      channel: (url) => channel(`${url}/base`),
      fixtures: [],
      act: (provider) => provider.poll('t'),
    })
    expect(requests.map((request) => request.path)).toEqual([`/base${path}`])
  })

  it.each([
    ['p1', p1Channel('https://up.example'), { code: 'AccessDenied', output: { task_id: 'task-1' } }],
    ['p2 direct', p2Channel('https://up.example', 'direct'), { error: { code: 'AccessDenied' }, id: 'task-1' }],
    ['p2 proxy', p2Channel('https://up.example', 'proxy'), { code: 'AccessDenied', data: { task_id: 'task-1' } }],
  ])(
    'never submits to %s again, with a new key, what was refused beside the id of a task',
    async (_, channel, body) => {
      const sent: unknown[] = []
      const http: UpstreamHttp = {
        send: async (request) => {
          sent.push(request)
          return { kind: 'response', status: 403, headers: {}, text: JSON.stringify(body) }
        },
        close() {},
      }
      const keys = { credential: async () => 'old', renewedCredential: async () => 'new' }
      await openVideoAccount(channel, { ...keys, http }).submit(ANY_SUBMIT)
      expect(sent).toHaveLength(1)
      await openVideoAccount(channel, { ...keys, http }).poll('task-1')
      expect(sent).toHaveLength(3)
    },
  )
})

const KEY = 'sk-up/Q9"x\\8vT2mZ'

const CHANNELS = [
  ['p1', p1Channel('https://up.example')],
  ['p2 direct', p2Channel('https://up.example', 'direct')],
  ['p2 proxy', p2Channel('https://up.example', 'proxy')],
] as const

type Channel = (typeof CHANNELS)[number][1]

/** An upstream that gives every call the same answer. */
function providerOf(channel: Channel, status: number, text: string): VideoAccount {
  const http = { send: async () => ({ kind: 'response', status, headers: {}, text }) as const, close() {} }
  return openVideoAccount(channel, { credential: async () => KEY, http })
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
    const failed = videoProvider(channel.provider).statuses.failed[0]
    const text = `{"output":{"task_status":"${failed}","message":"no: ${form}"},"status":"${failed}","error":{"message":"no: ${form}"},"headers":"${form}"}`
    const outcome = await providerOf(channel, 200, text).poll('task-1')
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: 'no: [redacted]',
      text: text.replaceAll(form, '[redacted]'),
    })
  })

  it.each(CHANNELS)('%s: is logged without the key', async (_, channel) => {
    const provider = openVideoAccount(channel, {
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

describe('a video upstream whose reply is nested 100,000 deep', () => {
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

  it.each(CHANNELS)('%s: has an outcome, and its job a body', async (_, channel) => {
    for (const text of texts) {
      const [accepting, refusing] = [providerOf(channel, 200, text), providerOf(channel, 400, text)]
      expect(await accepting.submit(ANY_SUBMIT)).toHaveProperty('kind')
      expect(await refusing.submit(ANY_SUBMIT)).toHaveProperty('kind')
      expect(await accepting.poll('task-1')).toHaveProperty('kind')
      expect(typeof (await refusing.cancel('task-1'))).toBe('string')
      expect(readVideoResult(channel.provider, text)).toBeDefined()
      expect(videoProvider(channel.provider).readGenerationSeconds(parseJson(text))).toBeUndefined()
      expect(spliceInjected(text, { id: 'job' })).toContain('"id":"job"')
    }
  })
})

describe('readVideoResult', () => {
  const text = JSON.stringify({
    output: { video_url: 'https://p1.example/v' },
    content: { video_url: 'https://p2.example/v' },
  })

  it.each([
    ['p1', 'https://p1.example/v'],
    ['p2', 'https://p2.example/v'],
  ] as const)('reads a reply of %s by the wire contract of that provider', (provider, videoUrl) => {
    expect(readVideoResult(provider, text).videoUrl).toBe(videoUrl)
  })

  it('never throws for any JSON', () => {
    const names = ['status', 'data', 'error', 'usage', 'output', 'task_status', 'content', 'metadata', 'duration', 'SR']
    const key = fc.oneof(fc.constantFrom(...names), fc.constant('__proto__'), fc.string())
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.constantFrom('succeeded', 'SUCCEEDED', 'FAILED', 'failed'), fc.jsonValue({ maxDepth: 1 })),
        fc.dictionary(key, tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        const text = JSON.stringify(value)
        for (const provider of VIDEO_PROVIDERS) {
          expect(readVideoResult(provider.name, text)).toHaveProperty('videoUrl')
          expect(['running', 'succeeded', 'failed', 'gone', 'unavailable']).toContain(
            pollOutcome({ kind: 'response', status: 200, headers: {}, text }, provider).kind,
          )
        }
      }),
    )
  })
})

/** Every recorded reply that says how far its task is. */
const PERCENT: Readonly<Record<string, number>> = {
  p2x_poll_pending: 0,
  p2x_poll_processing: 50,
  p2x_poll_succeeded: 100,
  p2x_submit: 0,
  proxy_a_poll_completed: 100,
  proxy_a_poll_failed: 0,
  proxy_a_poll_processing: 45,
  proxy_a_submit: 0,
  proxy_b_submit: 0,
  proxy_b_wrapped_failure: 100,
  proxy_b_wrapped_in_progress: 30,
  proxy_b_wrapped_not_start: 0,
  proxy_b_wrapped_success: 100,
  proxy_d_object_completed: 100,
  proxy_d_object_failed: 100,
  proxy_d_object_submit: 0,
}

describe('the percentage that an upstream reports', () => {
  it('is looked for in every recorded reply that has one', () => {
    const names = fixtureNames(/^(p1|p2|proxy_)/).filter((name) => answerText(readFixture(name)).includes('"progress"'))
    expect(Object.keys(PERCENT).sort()).toEqual(names)
  })

  it.each(Object.entries(PERCENT))('of %s is %s', (name, percent) => {
    expect(p2.readPercent(JSON.parse(answerText(readFixture(name))))).toBe(percent)
  })

  it('may be a number, or a string with or without a sign', () => {
    expect([37, '37', '37%', ' 37 %', 37.9].map((progress) => p2.readPercent({ progress }))).toEqual([
      37, 37, 37, 37, 37,
    ])
    expect(p2.readPercent({ data: { progress: '30%' } })).toBe(30)
  })

  it('is nothing where the value is no percentage', () => {
    const values = [-1, 101, null, true, '', 'half', {}, [50], Number.MAX_VALUE, '1e1']
    expect(values.map((progress) => p2.readPercent({ progress }))).toEqual(values.map(() => undefined))
    expect(p2.readPercent(undefined)).toBeUndefined()
    expect(p1.readPercent()).toBeUndefined()
  })
})

describe('the generation time that an upstream reports', () => {
  /** Every recorded success answer; undefined where the upstream says no times. */
  const SECONDS: Readonly<Record<string, number | undefined>> = {
    p1_poll_succeeded_480: 79.583,
    p1_poll_succeeded_t2v: 79.583,
    p1_poll_succeeded_video_edit: 79.583,
    p2_poll_succeeded: 100,
    p2_poll_succeeded_1x: 100,
    p2_poll_succeeded_error_null: 100,
    p2_poll_succeeded_last_frame: 100,
    p2_poll_succeeded_silent: 100,
    p2_poll_succeeded_tools: 100,
    p2i_poll_succeeded: 100,
    p2x_poll_succeeded: 100,
    p2x_poll_succeeded_min: undefined,
    proxy_a_poll_completed: undefined,
    proxy_b_poll_completed: undefined,
    proxy_b_wrapped_success: 100,
    proxy_c_poll_completed: undefined,
    proxy_d_object_completed: 100,
    proxy_d_poll_succeeded: 100,
  }

  const read = (name: string) =>
    (name.startsWith('p1_') ? p1 : p2).readGenerationSeconds(JSON.parse(answerText(readFixture(name))))
  const secondsOfP1 = (output: unknown) => p1.readGenerationSeconds({ output })

  it('is looked for in every recorded reply of a success', () => {
    expect(Object.keys(SECONDS).sort()).toEqual(
      fixtureNames(/^(p1|p2|p2i|p2x|proxy_.)_.*(?<!delete_)(succeeded|success|completed)/),
    )
  })

  it.each(Object.entries(SECONDS))('of %s is %s', (name, seconds) => {
    expect(read(name)).toEqual(seconds === undefined ? undefined : expect.closeTo(seconds, 3))
  })

  it('counts from the schedule where the submit is not named', () => {
    expect(secondsOfP1({ scheduled_time: '2026-04-20 23:59:50.500', end_time: '2026-04-21 00:00:10.250' })).toBeCloseTo(
      19.75,
    )
  })

  it('may be unix times in seconds, milliseconds or digits, or times with a zone', () => {
    expect(p2.readGenerationSeconds({ created_at: '1776678917', updated_at: 1_776_679_017 })).toBe(100)
    expect(p2.readGenerationSeconds({ created_at: 1_776_678_917_250, completed_at: 1_776_679_017_250 })).toBe(100)
    expect(
      p2.readGenerationSeconds({ created_at: '2026-04-20T17:55:17+08:00', completed_at: '2026-04-20T17:56:57+08:00' }),
    ).toBe(100)
  })

  it('prefers the end that a task names over its last change', () => {
    expect(p2.readGenerationSeconds({ created_at: 1000, updated_at: 5000, completed_at: 1100 })).toBe(100)
  })

  it('is nothing where begin or end are missing or no times', () => {
    expect(secondsOfP1({ submit_time: '2026-04-20 17:55:17' })).toBeUndefined()
    expect(secondsOfP1({ submit_time: 'yesterday', end_time: '2026-99-99 17:55:17' })).toBeUndefined()
    expect(p2.readGenerationSeconds({ created_at: -1, updated_at: null })).toBeUndefined()
    expect(p2.readGenerationSeconds([])).toBeUndefined()
    expect(p1.readGenerationSeconds(undefined)).toBeUndefined()
  })

  it('never fails, whatever the reply holds', () => {
    const instants = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.constant(null), fc.object())
    const views = fc.dictionary(fc.constantFrom('submit_time', 'created_at', 'end_time', 'updated_at'), instants)
    fc.assert(
      fc.property(views, (view) => {
        for (const seconds of [
          secondsOfP1(view),
          p2.readGenerationSeconds(view),
          p2.readGenerationSeconds({ data: view }),
        ]) {
          expect(seconds === undefined || typeof seconds === 'number').toBe(true)
        }
      }),
    )
  })
})
