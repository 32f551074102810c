import { describe, expect, it } from '@jest/globals'
import { createUpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { openVideoAccount } from '#upstream/providers/video-account.ts'
import { p2Channel, sampleModel, sampleRequest } from './provider-samples.ts'
import { ANY_SUBMIT, replay, replayFixture, withoutText } from './replay.ts'
import { fixtureNames, readFixture } from './upstream-fixture.ts'

const proxy = (baseUrl: string) => p2Channel(baseUrl, 'proxy')

const accepted = (taskId: string) => ({ kind: 'accepted', taskId })
const running = { kind: 'running', isKnownStatus: true }
const failed = (message: string) => ({ kind: 'failed', message })
const refused = (reason: string, code: string) => ({ kind: 'channel_refused', reason, code })
const busy = (reason: string) => ({ kind: 'busy', reason, retryAfterSeconds: undefined })

const succeeded = (members: object) => ({
  kind: 'succeeded',
  result: {
    videoUrl: undefined,
    completionTokens: undefined,
    billableSeconds: undefined,
    outputSeconds: undefined,
    resolution: undefined,
    audio: undefined,
    ...members,
  },
})
const cdn = (path: string) => `https://cdn.proxy.example.test/${path}`
const fiveSeconds = { completionTokens: '108900', billableSeconds: '5', outputSeconds: '5', resolution: '720P' }

/** The outcome of every fixture of the proxy route, whichever shape it speaks, without its text. */
const OUTCOMES: Readonly<Record<string, unknown>> = {
  p2x_submit: accepted('task_01hzz8k3v9q2w7'),
  p2x_poll_pending: running,
  p2x_poll_processing: running,
  p2x_poll_succeeded: succeeded({ ...fiveSeconds, videoUrl: cdn('v/01hzz8k3v9q2w7.mp4'), audio: true }),
  p2x_poll_succeeded_min: succeeded({ videoUrl: cdn('v/a.mp4') }),
  p2x_poll_failed: failed('The request failed because the input text may contain sensitive information.'),
  p2x_poll_failed_string: failed('upstream rejected the task'),
  p2x_err_401: refused('HTTP 401 invalid_api_key', 'upstream_auth'),
  p2x_err_402: refused('HTTP 402 insufficient_quota', 'upstream_quota'),
  p2x_err_429: busy('HTTP 429 rate_limit_exceeded'),
  p2x_err_503: busy('HTTP 503 model_not_found'),
  proxy_a_submit: accepted('task-unified-1776678917-ab12cd34'),
  proxy_a_poll_processing: running,
  proxy_a_poll_completed: succeeded({ videoUrl: cdn('a/1.mp4') }),
  proxy_a_poll_failed: failed('The generation did not finish.'),
  proxy_b_submit: accepted('task_b7f3'),
  proxy_b_poll_in_progress: running,
  proxy_b_poll_completed: succeeded({ videoUrl: cdn('b/1.mp4'), billableSeconds: '5.04', outputSeconds: '5.04' }),
  proxy_b_poll_failed: failed('The model gave up.'),
  proxy_b_wrapped_not_start: running,
  proxy_b_wrapped_in_progress: running,
  proxy_b_wrapped_success: succeeded({
    videoUrl: 'https://result.p2.example.test/0217766789.mp4?Signature=FAKE',
    completionTokens: '100858',
    billableSeconds: '10',
    outputSeconds: '10',
    resolution: '480P',
    audio: false,
  }),
  proxy_b_wrapped_failure: failed('the input image could not be read'),
  proxy_b_wrapped_no_task: { kind: 'gone', reason: 'HTTP 400 task_not_exist' },
  proxy_b_wrapped_fetch_failed: { kind: 'unavailable', reason: 'HTTP 200 get_task_failed without a task status' },
  proxy_c_submit: accepted('vt_9c1d'),
  proxy_c_poll_running: running,
  proxy_c_poll_completed: succeeded({
    videoUrl: cdn('c/1.mp4'),
    completionTokens: '108900',
    billableSeconds: '5.041667',
    outputSeconds: '5.041667',
  }),
  proxy_c_poll_cancelled: failed('the upstream reported cancelled'),
  proxy_d_submit: accepted('cgt-20260420175517-k7p2q'),
  proxy_d_poll_succeeded: succeeded({
    ...fiveSeconds,
    videoUrl: 'https://result.p2.example.test/0217766789.mp4?Signature=FAKE',
    audio: true,
  }),
  proxy_d_object_submit: accepted('video_68d7'),
  proxy_d_object_completed: succeeded({ ...fiveSeconds, videoUrl: cdn('d/1.mp4') }),
  proxy_d_object_failed: failed('The prompt is not allowed.'),
  proxy_err_429_balance: refused('HTTP 429', 'upstream_quota'),
  proxy_err_200_limit: busy('HTTP 200 rate_limit_exceeded'),
}

describe('P2 proxy replies', () => {
  it('has an expected outcome for every fixture', () => {
    expect(Object.keys(OUTCOMES).sort()).toEqual(fixtureNames(/^(p2x|proxy)_/))
  })

  it.each(Object.keys(OUTCOMES))('reads %s as decided and keeps its text', async (name) => {
    expect(withoutText(name, await replayFixture(name, proxy))).toEqual(OUTCOMES[name])
  })
})

describe('P2 proxy requests', () => {
  it('sends one flat object', async () => {
    const { request } = readFixture('p2x_submit')
    const image_urls = ['https://in.example.test/f.png']
    const command = {
      request: sampleRequest({ prompt: 'a cat runs on the beach', image_urls }),
      model: sampleModel(),
      upstreamModelId: 'famA-2',
    }
    const { requests } = await replay({
      channel: proxy,
      fixtures: [readFixture('p2x_submit')],
      act: (provider) => provider.submit(command),
    })

    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({ method: 'POST', path: request.path })
    expect(requests[0]?.body).toStrictEqual(request.body)
  })

  it('leaves out images that were not given, audio that the model lacks and flags that it obeys', async () => {
    const model = sampleModel({ audio: { supported: false, default: false }, prompt_flags: true })
    const { requests } = await replay({
      channel: proxy,
      fixtures: [],
      act: (provider) => provider.submit({ ...ANY_SUBMIT, request: sampleRequest({ prompt: 'a --wm false' }), model }),
    })

    expect(requests[0]?.body).toStrictEqual({
      model: 'upstream-id',
      prompt: 'a –wm false',
      duration: 5,
      resolution: '720p',
      aspect_ratio: '16:9',
      watermark: true,
    })
  })

  it('uses the paths of the channel, the id escaped', async () => {
    const paths = { submit: '/api/make', poll: '/api/tasks/{id}?view=full' }
    const { requests } = await replay({
      channel: (baseUrl) => ({ ...proxy(`${baseUrl}/prefix`), paths }),
      fixtures: [],
      act: async (provider) => [await provider.submit(ANY_SUBMIT), await provider.poll('$&/1')],
    })

    expect(requests.map(({ path }) => path)).toEqual(['/prefix/api/make', '/prefix/api/tasks/%24%26%2F1?view=full'])
  })

  it('never cancels, and asks nobody', async () => {
    const { outcome, requests } = await replay({
      channel: proxy,
      fixtures: [],
      act: (provider) => provider.cancel('task_01'),
    })
    expect({ outcome, requests }).toEqual({ outcome: 'refused', requests: [] })
  })
})

describe('a channel without its key', () => {
  const http = createUpstreamHttp()
  const provider = (credential: () => Promise<string>) =>
    openVideoAccount(p2Channel('http://127.0.0.1:9', 'direct'), { credential, http })

  it('is unreachable while the key cannot be read', async () => {
    const locked = provider(() => Promise.reject(new Error('secret store said no to key 123')))
    const reason = 'credential not available'
    expect(await locked.submit(ANY_SUBMIT)).toEqual({ kind: 'unreachable', reason })
    expect(await locked.poll('t')).toEqual({ kind: 'unavailable', reason })
    expect(await locked.cancel('t')).toBe('unknown')
  })

  it('is unreachable with a key that no header can carry', async () => {
    const broken = provider(() => Promise.resolve('two\nlines'))
    expect(await broken.submit(ANY_SUBMIT)).toEqual({ kind: 'unreachable', reason: 'ERR_INVALID_CHAR' })
  })

  it('sends no authorization for an empty key', async () => {
    const sent: unknown[] = []
    const recorder = openVideoAccount(p2Channel('http://127.0.0.1:9', 'direct'), {
      credential: () => Promise.resolve(''),
      http: {
        send: (request) => {
          sent.push(request.headers)
          return Promise.resolve({ kind: 'not_sent', reason: 'recorded' })
        },
        close: () => {},
      },
    })
    await recorder.poll('t')
    expect(sent).toStrictEqual([{}])
  })
})
