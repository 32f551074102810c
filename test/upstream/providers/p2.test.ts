import { describe, expect, it } from '@jest/globals'
import type { VideoModel } from '#core/catalogue/model.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import { neutralizePromptFlags, p2 } from '#core/providers/p2.ts'
import type { WholeOutcome } from '#platform/http/http-client.ts'
import { pollOutcome } from '#upstream/providers/video-account.ts'
import { p2Channel, sampleModel, sampleRequest } from './provider-samples.ts'
import { ANY_SUBMIT, replay, replayFixture, withoutText } from './replay.ts'
import { fixtureNames, readFixture } from './upstream-fixture.ts'

const direct = (baseUrl: string) => p2Channel(baseUrl, 'direct')
const international = (baseUrl: string) => p2Channel(baseUrl, 'international')

const TASK_ID = 'cgt-20260420175517-k7p2q'
const REQUEST_ID = 'Request id: 021776678917001f0e1d'
const accepted = { kind: 'accepted', taskId: TASK_ID }
const running = { kind: 'running', isKnownStatus: true }
const rejected = (message: string) => ({ kind: 'rejected', message: `${message} ${REQUEST_ID}` })
const refused = (reason: string, code: string) => ({ kind: 'channel_refused', reason, code })
const busy = (reason: string) => ({ kind: 'busy', reason, retryAfterSeconds: undefined })

const succeeded = (members: object = {}) => ({
  kind: 'succeeded',
  result: {
    videoUrl: expect.stringMatching(/^https:\/\/result\.p2\.example\.test\/famA-2-0\/0217766789\.mp4\?/),
    completionTokens: '108900',
    billableSeconds: '5',
    outputSeconds: '5',
    resolution: '720P',
    audio: true,
    ...members,
  },
})

/** The outcome of every fixture of the direct and the international route, without its text. */
const OUTCOMES: Readonly<Record<string, unknown>> = {
  p2_submit_t2v: accepted,
  p2_submit_i2v_first_frame: accepted,
  p2_submit_first_last: accepted,
  p2_submit_multimodal: accepted,
  p2_submit_legacy_flags: accepted,
  p2_poll_queued: running,
  p2_poll_running: running,
  p2_poll_succeeded: succeeded(),
  p2_poll_succeeded_silent: succeeded({ audio: false }),
  p2_poll_succeeded_1x: succeeded({ completionTokens: '49005', resolution: '480P', audio: undefined }),
  p2_poll_succeeded_last_frame: succeeded(),
  p2_poll_succeeded_tools: succeeded(),
  p2_poll_succeeded_error_null: succeeded(),
  p2_poll_failed_audio_policy: {
    kind: 'failed',
    message:
      'The request failed because the output audio may be related to copyright restrictions. Request id: 0217766789',
  },
  p2_poll_failed_video_sensitive: {
    kind: 'failed',
    message: 'The request failed because the output video may contain sensitive information. Request id: 0217766789',
  },
  p2_poll_failed_internal: {
    kind: 'failed',
    message: 'The service encountered an unexpected internal error. Request id: 0217766789',
  },
  p2_poll_cancelled: { kind: 'failed', message: 'the upstream reported cancelled' },
  p2_poll_expired: { kind: 'failed', message: 'the upstream reported expired' },
  p2_list: { kind: 'unavailable', reason: 'HTTP 200 without a task status' },
  p2_get_404: { kind: 'gone', reason: 'HTTP 404 ResourceNotFound' },
  p2_err_400_duration: rejected(
    'the parameter duration specified in the request is not valid for model famA-2-0 in t2v.',
  ),
  p2_err_400_resolution: rejected(
    'the parameter resolution specified in the request is not valid for model famA-2-fast in t2v.',
  ),
  p2_err_400_download: rejected(
    'The parameter `content[1].image_url` specified in the request is not valid: resource download failed.',
  ),
  p2_err_400_text_sensitive: rejected('The request failed because the input text may contain sensitive information.'),
  p2_err_400_real_person: rejected('The request failed because the input image may contain real person.'),
  p2_err_401: refused('HTTP 401 AuthenticationError', 'upstream_auth'),
  p2_err_403_overdue: refused('HTTP 403 AccountOverdueError', 'upstream_quota'),
  p2_err_404_model: refused('HTTP 404 InvalidEndpointOrModel.NotFound', 'upstream_error'),
  p2_err_404_not_open: refused('HTTP 404 ModelNotOpen', 'upstream_error'),
  p2_err_429_rpm: busy('HTTP 429 ModelAccountRpmRateLimitExceeded'),
  p2_err_429_overloaded: busy('HTTP 429 ServerOverloaded'),
  p2_err_429_setlimit: refused('HTTP 429 SetLimitExceeded', 'upstream_quota'),
  p2_err_500: { kind: 'unknown', reason: 'HTTP 500 InternalServiceError' },
  p2i_submit_t2v: { kind: 'accepted', taskId: 'cgt-20260420175520-m4n5o' },
  p2i_poll_succeeded: succeeded({ completionTokens: '245025', resolution: '1080P', audio: false }),
}

/** Cancelling is two exchanges: these have their own tests below. */
const DELETES = ['p2_delete_queued', 'p2_delete_running_409', 'p2_delete_succeeded']

describe('P2 replies', () => {
  it('has an expected outcome for every fixture', () => {
    expect([...Object.keys(OUTCOMES), ...DELETES].sort()).toEqual(fixtureNames(/^p2i?_/))
  })

  it.each(Object.keys(OUTCOMES))('reads %s as decided and keeps its text', async (name) => {
    const channel = name.startsWith('p2i') ? international : direct
    expect(withoutText(name, await replayFixture(name, channel))).toEqual(OUTCOMES[name])
  })

  it('reads the same from the kept text as from the poll', async () => {
    const { text, result } = Object(await replayFixture('p2_poll_succeeded', direct))
    expect(p2.readResult(JSON.parse(text))).toEqual(result)
  })
})

describe('P2 requests', () => {
  type Case = {
    readonly fixture: string
    readonly model?: Partial<VideoModel>
    readonly request: Partial<VideoJobRequest>
    /** What the fixture has beyond the documented parameters. */
    readonly without?: readonly string[]
  }
  const CASES: readonly Case[] = [
    { fixture: 'p2_submit_t2v', request: { prompt: 'a cat runs on the beach' }, without: ['seed'] },
    {
      fixture: 'p2_submit_i2v_first_frame',
      request: { prompt: 'she opens her eyes', image_urls: ['https://in.example.test/f.png'], aspect_ratio: '9:16' },
    },
    {
      fixture: 'p2_submit_multimodal',
      request: {
        prompt: 'use [Image 1] in the style of [Video 1] with [Audio 1]',
        image_urls: ['https://in.example.test/1.jpg', 'https://in.example.test/2.jpg'],
        video_urls: ['https://in.example.test/v.mp4'],
        audio_urls: ['https://in.example.test/a.mp3'],
        duration: 11,
      },
    },
    {
      fixture: 'p2i_submit_t2v',
      request: {
        prompt: 'a cat runs on the beach',
        resolution: '1080P',
        aspect_ratio: '9:16',
        generate_audio: false,
      },
    },
  ]

  it.each(CASES)(
    'sends what the upstream knows and nothing else: $fixture',
    async ({ fixture, model, request, without = [] }) => {
      const recorded = readFixture(fixture).request
      const expected = Object.fromEntries(
        Object.entries(Object(recorded.body)).filter(([key]) => !without.includes(key)),
      )
      const command = {
        request: sampleRequest(request),
        model: sampleModel(model),
        upstreamModelId: String(expected.model),
      }
      const { requests } = await replay({
        channel: fixture.startsWith('p2i') ? international : direct,
        fixtures: [readFixture(fixture)],
        act: (provider) => provider.submit(command),
      })

      expect(requests).toHaveLength(1)
      expect(requests[0]).toMatchObject({ method: 'POST', path: recorded.path })
      expect(requests[0]?.body).toStrictEqual(expected)
    },
  )

  const bodyOf = async (request: Partial<VideoJobRequest>, model: Partial<VideoModel> = {}) => {
    const command = { request: sampleRequest(request), model: sampleModel(model), upstreamModelId: 'upstream-id' }
    const { requests } = await replay({ channel: direct, fixtures: [], act: (provider) => provider.submit(command) })
    return requests[0]?.body
  }

  it('says nothing of audio to a model without it, and takes the flags out of its prompt', async () => {
    const model = { audio: { supported: false, default: false }, prompt_flags: true }
    expect(await bodyOf({ prompt: 'a detective --rs 1080p --dur 10', resolution: '480P' }, model)).toStrictEqual({
      model: 'upstream-id',
      content: [{ type: 'text', text: 'a detective –rs 1080p –dur 10' }],
      resolution: '480p',
      ratio: '16:9',
      duration: 5,
      watermark: true,
    })
  })

  it('leaves the prompt of a model without flags alone', async () => {
    expect(await bodyOf({ prompt: 'a detective --rs 1080p' })).toMatchObject({
      content: [{ type: 'text', text: 'a detective --rs 1080p' }],
    })
  })

  it('makes one image beside a video a reference, with a ratio', async () => {
    const image = 'https://in.example.test/1.jpg'
    expect(await bodyOf({ image_urls: [image], video_urls: ['https://in.example.test/v.mp4'] })).toMatchObject({
      content: [
        { type: 'text' },
        { type: 'image_url', image_url: { url: image }, role: 'reference_image' },
        { type: 'video_url', role: 'reference_video' },
      ],
      ratio: '16:9',
    })
  })

  it('sends the key and no header of another upstream', async () => {
    const { requests } = await replay({
      channel: direct,
      fixtures: [readFixture('p2_submit_t2v')],
      act: (provider) => provider.submit(ANY_SUBMIT),
    })

    const { host, 'content-length': length, ...headers } = requests[0]?.headers ?? {}
    expect(headers).toStrictEqual({
      authorization: 'Bearer TEST_KEY',
      'content-type': 'application/json',
      'user-agent': 'reelgate',
      'accept-encoding': 'identity',
      connection: 'close',
    })
  })
})

describe('P2 cancel', () => {
  const cancel = async (...names: string[]) => {
    const { outcome, requests } = await replay({
      channel: direct,
      fixtures: names.map(readFixture),
      act: (provider) => provider.cancel(TASK_ID),
    })
    return { outcome, methods: requests.map(({ method }) => method) }
  }

  it('deletes a task that is still queued', async () => {
    expect(await cancel('p2_poll_queued', 'p2_delete_queued')).toEqual({
      outcome: 'cancelled',
      methods: ['GET', 'DELETE'],
    })
  })

  it('is refused for a task that began in between', async () => {
    expect(await cancel('p2_poll_queued', 'p2_delete_running_409')).toEqual({
      outcome: 'refused',
      methods: ['GET', 'DELETE'],
    })
  })

  it.each(['p2_poll_running', 'p2_poll_succeeded', 'p2_poll_failed_internal'])(
    'never deletes the record of a task in the state of %s',
    async (name) => {
      expect(await cancel(name, 'p2_delete_succeeded')).toEqual({ outcome: 'refused', methods: ['GET'] })
    },
  )

  it('finds a task that is cancelled already cancelled', async () => {
    expect(await cancel('p2_poll_cancelled')).toEqual({ outcome: 'cancelled', methods: ['GET'] })
  })

  it('does not know about a task that is not there', async () => {
    expect(await cancel('p2_get_404')).toEqual({ outcome: 'unknown', methods: ['GET'] })
  })

  it('is unknown while the state cannot be read, so that it is asked again', async () => {
    expect(await cancel()).toEqual({ outcome: 'unknown', methods: ['GET'] })
  })
})

const pollP2 = (outcome: WholeOutcome) => pollOutcome(outcome, p2)

const poll = (body: unknown, status = 200) =>
  pollP2({ kind: 'response', status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) })

describe('pollOutcome of P2', () => {
  it.each([
    'pending',
    'QUEUED',
    'submitted',
    'NOT_START',
    'preparing',
    'Running',
    'processing',
    'in_progress',
    'generating',
  ])('waits for %s', (status) => {
    expect(poll({ status })).toMatchObject({ kind: 'running', isKnownStatus: true })
  })

  it.each(['succeeded', 'SUCCESS', 'Completed'])('takes %s for a success, even without a url', (status) => {
    expect(poll({ status })).toMatchObject({ kind: 'succeeded', result: { videoUrl: undefined } })
  })

  it.each(['failed', 'FAILURE', 'error', 'cancelled', 'canceled', 'expired', 'timeout'])(
    'takes %s for a failure',
    (status) => {
      expect(poll({ status })).toMatchObject({
        kind: 'failed',
        message: `the upstream reported ${status.toLowerCase()}`,
      })
    },
  )

  it('goes on with a word that no document lists, and says so', () => {
    expect(poll({ status: 'daydreaming' })).toMatchObject({
      kind: 'running',
      isKnownStatus: false,
      statusWord: 'daydreaming',
    })
  })

  it('does not take the success of an envelope for that of the task', () => {
    expect(poll({ status: 'success', data: { status: 'running' } })).toMatchObject({ kind: 'running' })
    expect(poll({ status: 'success', data: { status: 'failed', fail_reason: 'no' } })).toMatchObject({ message: 'no' })
    expect(poll({ status: 200, data: { status: 'completed' } })).toMatchObject({ kind: 'succeeded' })
  })

  it('passes on the words of the failure, not those of the envelope', () => {
    const data = { status: 'FAILURE', fail_reason: '', data: { status: 'failed', error: { message: 'too dark' } } }
    expect(poll({ code: 'success', message: 'ok', data })).toMatchObject({ kind: 'failed', message: 'too dark' })
    expect(poll({ status: 'failed', message: 'plain words' })).toMatchObject({ message: 'plain words' })
    expect(poll({ status: 'failed', error: { code: 'OnlyACode' } })).toMatchObject({ message: 'OnlyACode' })
  })

  it('has no verdict on an envelope that holds no task', () => {
    expect(poll({ code: 'fail_to_fetch_task', message: 'x' })).toMatchObject({ kind: 'unavailable' })
    expect(poll({ code: 429, message: 'x' })).toMatchObject({ kind: 'unavailable' })
    expect(poll({ error: { code: 'AccessDenied' } })).toMatchObject({ kind: 'unavailable' })
    expect(poll({ code: 'task_not_exist' })).toMatchObject({ kind: 'gone' })
    expect(poll({ code: 'content_policy_violation', message: 'no' })).toMatchObject({ kind: 'failed', message: 'no' })
  })

  it.each([301, 400, 401, 403, 409, 429, 500, 502, 503])('has no verdict after a %i', (status) => {
    expect(poll({ status: 'failed' }, status).kind).toBe('unavailable')
  })

  it('finds a task gone that is not found', () => {
    expect(poll('<html>', 404)).toEqual({ kind: 'gone', reason: 'HTTP 404' })
  })

  it('has no verdict without a reply', () => {
    expect(pollP2({ kind: 'no_response', reason: 'timeout' })).toEqual({
      kind: 'unavailable',
      reason: 'timeout',
    })
  })
})

describe('pollOutcome of P2 of an odd reply', () => {
  const reply = (text: string) => ({ kind: 'response', status: 200, headers: {}, text }) as const

  it.each(['', 'null', '[]', '12', '"text"', '<html>', '[['.repeat(100_000), '{"status":'])(
    'has no verdict on %.20j',
    (text) => {
      expect(pollP2(reply(text)).kind).toBe('unavailable')
    },
  )

  it('survives a reply nested a hundred thousand deep', () => {
    const text = `{"status":"succeeded","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(pollP2(reply(text)).kind).toBe('succeeded')
  })

  it('reads behind a byte order mark, which stays in the text', () => {
    const text = '\ufeff{"status":"running"}'
    expect(pollP2(reply(text))).toEqual({ kind: 'running', text, isKnownStatus: true })
  })
})

const read = (body: unknown) => p2.readResult(body)

describe('p2.readResult', () => {
  const url = 'https://v.example.test/1.mp4'

  it.each([
    { content: { video_url: url } },
    { video_url: url },
    { data: [{ url }] },
    { data: [{ video_url: url }] },
    { url },
    { results: [url] },
    { results: [{ url }] },
    { metadata: { url } },
    { upstream_response: { content: { video_url: url } } },
    { data: { data: { content: { video_url: url } } } },
    { data: { url } },
    { video_url: '', url: 'pending', results: [null], metadata: { url } },
  ])('finds the url in %j', (body) => {
    expect(read(body).videoUrl).toBe(url)
  })

  it('prefers the outer of two urls', () => {
    expect(read({ upstream_response: { content: { video_url: 'https://far.example.test' } }, url }).videoUrl).toBe(url)
  })

  it.each([
    [{ usage: { completion_tokens: 108900 } }, '108900'],
    [{ usage: { completion_tokens: 108900.5 } }, '108900.5'],
    [{ usage: { completion_tokens: '108900' } }, '108900'],
    [{ usage: { completion_tokens: 0 }, upstream_response: { usage: { completion_tokens: 7 } } }, '7'],
    [{ usage: { completion_tokens: 0 } }, '0'],
    [{ usage: { completion_tokens: -5 } }, '-5'],
    [{ usage: { completion_tokens: 'many' } }, 'many'],
    [{ usage: { completion_tokens: 1e30 } }, '1e+30'],
    [{ usage: [108900] }, undefined],
    [{ metadata: { usage: { completion_tokens: 3 } } }, '3'],
    [{ data: { data: { usage: { completion_tokens: 4 } } } }, '4'],
  ])('reads the tokens of %j', (body, tokens) => {
    expect(read(body).completionTokens).toBe(tokens)
  })

  it.each([
    [{ duration: 5 }, '5'],
    [{ duration: '5.04' }, '5.04'],
    [{ duration: 13.239999999999998 }, '13.24'],
    [{ duration: -1, frames: 120 }, '5'],
    [{ frames: '121' }, '5.041667'],
    [{ metadata: { duration: 6 } }, '6'],
    [{ upstream_response: { duration: 7 } }, '7'],
    [{}, undefined],
  ])('reads the seconds of %j', (body, seconds) => {
    expect(read(body)).toMatchObject({ billableSeconds: seconds, outputSeconds: seconds })
  })

  it('shows settlement a length that cannot be, and never serves it', () => {
    expect(read({ duration: 'long' })).toMatchObject({ billableSeconds: 'long', outputSeconds: undefined })
  })

  it('leaves a resolution that has no price tier open', () => {
    expect(read({ resolution: '4k' }).resolution).toBeUndefined()
  })
})

describe('neutralizePromptFlags', () => {
  it('leaves no flag in a prompt full of them, and every word', () => {
    const { text } = Object(readFixture('p2_submit_legacy_flags').request.body).content[0]
    expect(neutralizePromptFlags(text)).toBe(
      'a detective enters a dim room –rs 1080p –rt 16:9 –dur 5 –seed 11 –cf false –wm true',
    )
  })

  it.each([
    ['--resolution 1080p', '–resolution 1080p'],
    ['x --RATIO 16:9', 'x –RATIO 16:9'],
    ['x --duration=12', 'x –duration=12'],
    ['x --dur12', 'x –dur12'],
    ['x --frames 300', 'x –frames 300'],
    ['x --fps 60', 'x –fps 60'],
    ['x --framespersecond 60', 'x –framespersecond 60'],
    ['x --camerafixed true', 'x –camerafixed true'],
    ['x --camera_fixed true', 'x –camera_fixed true'],
    ['x --watermark false', 'x –watermark false'],
    ['x ---rs 1080p', 'x –rs 1080p'],
    ['x -- rs 1080p', 'x –rs 1080p'],
    ['x\n--rs\n1080p', 'x\n–rs\n1080p'],
    ['字--rs 1080p', '字–rs 1080p'],
  ])('makes %j harmless', (prompt, expected) => {
    expect(neutralizePromptFlags(prompt)).toBe(expected)
  })

  it.each(['a well-made, slow pan', 'he waits -- then runs', 'x --rsvp', 'x --durable', '-rs 1080p', '--'])(
    'leaves %j alone',
    (prompt) => {
      expect(neutralizePromptFlags(prompt)).toBe(prompt)
    },
  )

  it('stays quick on a prompt of hyphens', () => {
    const prompt = '-'.repeat(5_000)
    expect(neutralizePromptFlags(prompt)).toBe(prompt)
  })
})
