import { describe, expect, it } from '@jest/globals'
import type { VideoModel } from '#core/catalogue/model.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import { p1 } from '#core/providers/p1.ts'
import { pollOutcome } from '#upstream/providers/video-account.ts'
import { p1Channel, sampleModel, sampleRequest } from './provider-samples.ts'
import { ANY_SUBMIT, replay, replayFixture, withoutText } from './replay.ts'
import { fixtureNames, readFixture } from './upstream-fixture.ts'

const TASK_ID = '0385dc79-5ff8-4d82-bcb6-1a2b3c4d5e6f'
const VIDEO_URL =
  'https://result.p1.example.test/1d/2e/20260420/ab12/4673458e.mp4?Expires=1776765396&OSSAccessKeyId=FAKE&Signature=FAKE'

const refused = (reason: string, code: string) => ({ kind: 'channel_refused', reason, code })
const accepted = { kind: 'accepted', taskId: TASK_ID }
const running = { kind: 'running', isKnownStatus: true }
const result = { videoUrl: VIDEO_URL, completionTokens: undefined, audio: undefined }

/** The outcome of every P1 fixture, without its text, which is always the answer itself. */
const OUTCOMES: Readonly<Record<string, unknown>> = {
  p1_submit_t2v: accepted,
  p1_submit_i2v: accepted,
  p1_submit_r2v: accepted,
  p1_submit_video_edit: accepted,
  p1_submit_older_size_style: accepted,
  p1_poll_pending: running,
  p1_poll_running: running,
  p1_poll_succeeded_t2v: {
    kind: 'succeeded',
    result: { ...result, billableSeconds: '5', outputSeconds: '5', resolution: '720P' },
  },
  p1_poll_succeeded_480: {
    kind: 'succeeded',
    result: { ...result, billableSeconds: '3', outputSeconds: '3', resolution: '480P' },
  },
  p1_poll_succeeded_video_edit: {
    kind: 'succeeded',
    result: { ...result, billableSeconds: '13.24', outputSeconds: '6.62', resolution: '720P' },
  },
  p1_poll_failed_param: { kind: 'failed', message: 'The parameter is invalid.' },
  p1_poll_failed_inspection: { kind: 'failed', message: 'Output data may contain inappropriate content.' },
  p1_poll_failed_internal: {
    kind: 'failed',
    message: 'An internal error has occured, please try again later or contact service support.',
  },
  p1_poll_canceled: {
    kind: 'failed',
    message: 'the upstream reported CANCELED (request 99243b47-ec5f-9413-9993-aabbccddeeff)',
  },
  p1_poll_unknown: { kind: 'gone', reason: 'task status UNKNOWN' },
  p1_poll_429: { kind: 'unavailable', reason: 'HTTP 429 Throttling.RateQuota' },
  p1_err_400_param: {
    kind: 'rejected',
    message: 'Required parameter(s) missing or invalid, please check the request parameters.',
  },
  p1_err_400_inspection: { kind: 'rejected', message: 'Input data may contain inappropriate content.' },
  p1_err_400_arrearage: refused('HTTP 400 Arrearage', 'upstream_quota'),
  p1_err_401_key: refused('HTTP 401 InvalidApiKey', 'upstream_auth'),
  p1_err_403_sync: refused('HTTP 403 AccessDenied', 'upstream_auth'),
  p1_err_403_unpurchased: refused('HTTP 403 AccessDenied.Unpurchased', 'upstream_auth'),
  p1_err_404_model: refused('HTTP 404 ModelNotFound', 'upstream_error'),
  p1_err_415_download: { kind: 'rejected', message: 'Failed to download the input file.' },
  p1_err_429_rate: { kind: 'busy', reason: 'HTTP 429 Throttling.RateQuota', retryAfterSeconds: undefined },
  p1_err_429_allocation: refused('HTTP 429 Throttling.AllocationQuota', 'upstream_quota'),
  p1_err_500: { kind: 'unknown', reason: 'HTTP 500 InternalError' },
  p1_err_503: { kind: 'busy', reason: 'HTTP 503 ModelUnavailable', retryAfterSeconds: undefined },
  p1_cancel_ok: 'cancelled',
  p1_cancel_not_pending: 'refused',
  // The adapter never lists: an answer that says nothing of the task.
  p1_list: { kind: 'unavailable', reason: 'HTTP 200 without a task status' },
}

describe('P1 replies', () => {
  it('has an expected outcome for every fixture', () => {
    expect(Object.keys(OUTCOMES).sort()).toEqual(fixtureNames(/^p1_/))
  })

  it.each(Object.keys(OUTCOMES))('reads %s as decided and keeps its text', async (name) => {
    expect(withoutText(name, await replayFixture(name, p1Channel))).toEqual(OUTCOMES[name])
  })
})

describe('P1 requests', () => {
  type Case = {
    readonly fixture: string
    readonly model: Partial<VideoModel>
    readonly request: Partial<VideoJobRequest>
    readonly body: unknown
  }
  const inputOf = (fixture: string) => Object(readFixture(fixture).request.body).input

  const CASES: readonly Case[] = [
    {
      fixture: 'p1_submit_t2v',
      model: {},
      request: { prompt: 'a paper city lights up at night' },
      body: {
        model: 'upstream-id',
        input: inputOf('p1_submit_t2v'),
        parameters: { resolution: '720P', ratio: '16:9', duration: 5, watermark: true },
      },
    },
    {
      fixture: 'p1_submit_i2v',
      model: { images: { min: 1, max: 1 } },
      request: { prompt: 'a cat runs on grass', image_urls: ['https://in.example.test/cat.png'] },
      body: {
        model: 'upstream-id',
        input: inputOf('p1_submit_i2v'),
        parameters: { resolution: '720P', duration: 5, watermark: true },
      },
    },
    {
      fixture: 'p1_submit_r2v',
      model: { images: { min: 1, max: 9 } },
      request: {
        prompt: '[Image 1] opens [Image 2]',
        image_urls: ['https://in.example.test/a.jpg', 'https://in.example.test/b.jpg'],
        resolution: '1080P',
        aspect_ratio: '4:5',
        duration: 8,
        watermark: false,
      },
      body: {
        model: 'upstream-id',
        input: inputOf('p1_submit_r2v'),
        parameters: { resolution: '1080P', ratio: '4:5', duration: 8, watermark: false },
      },
    },
    {
      fixture: 'p1_submit_video_edit',
      model: { images: { min: 0, max: 5 }, videos: { min: 1, max: 1 } },
      request: {
        prompt: 'put the striped sweater on the character',
        image_urls: ['https://in.example.test/sweater.webp'],
        video_urls: ['https://in.example.test/in.mp4'],
      },
      body: {
        model: 'upstream-id',
        input: inputOf('p1_submit_video_edit'),
        parameters: { resolution: '720P', watermark: true },
      },
    },
  ]

  it.each(CASES)(
    'sends what the upstream knows and nothing else: $fixture',
    async ({ fixture, model, request, body }) => {
      const command = { request: sampleRequest(request), model: sampleModel(model), upstreamModelId: 'upstream-id' }
      const { requests } = await replay({
        channel: p1Channel,
        fixtures: [readFixture(fixture)],
        act: (provider) => provider.submit(command),
      })

      expect(requests).toHaveLength(1)
      expect(requests[0]).toMatchObject({ method: 'POST', path: readFixture(fixture).request.path })
      expect(requests[0]?.body).toStrictEqual(body)
    },
  )

  it('sends the key, the asynchronous header of the channel and nothing of the client', async () => {
    const { requests } = await replay({
      channel: p1Channel,
      fixtures: [readFixture('p1_submit_t2v')],
      act: (provider) => provider.submit(ANY_SUBMIT),
    })

    const { host, 'content-length': length, ...headers } = requests[0]?.headers ?? {}
    expect(headers).toStrictEqual({
      authorization: 'Bearer TEST_KEY',
      'content-type': 'application/json',
      'x-p1-async': 'enable',
      'user-agent': 'reelgate',
      'accept-encoding': 'identity',
      connection: 'close',
    })
  })

  it('polls with the key alone, the id escaped', async () => {
    const { requests } = await replay({
      channel: p1Channel,
      fixtures: [],
      act: (provider) => provider.poll('a/../b?c'),
    })

    expect(requests[0]).toMatchObject({ method: 'GET', path: '/api/v1/tasks/a%2F..%2Fb%3Fc', body: null })
    expect(requests[0]?.headers).not.toHaveProperty('x-p1-async')
  })
})

describe('p1.readTaskId', () => {
  it.each([
    [{ output: { task_id: 't-1' } }, 't-1'],
    [{ task_id: 't-1' }, undefined],
    [{ output: { task_id: '..' } }, undefined],
    [undefined, undefined],
  ])('reads the task id of %j', (body, taskId) => {
    expect(p1.readTaskId(body)).toBe(taskId)
  })
})

describe('pollOutcome of P1', () => {
  const pollText = (text: string) => pollOutcome({ kind: 'response', status: 200, headers: {}, text }, p1)
  const pollP1 = (output: unknown) => pollText(JSON.stringify({ output, request_id: 'r-1' }))

  it.each(['PENDING', 'RUNNING', 'SUSPENDED', 'running'])('waits for %s', (task_status) => {
    expect(pollP1({ task_status })).toMatchObject({ kind: 'running', isKnownStatus: true })
  })

  it('goes on with a word that no document lists, and says so', () => {
    expect(pollP1({ task_status: 'POSTPROCESSING' })).toMatchObject({
      kind: 'running',
      isKnownStatus: false,
      statusWord: 'POSTPROCESSING',
    })
  })

  it('passes on message, else code, else the request id', () => {
    const task_status = 'FAILED'
    expect(pollP1({ task_status, code: 'C', message: 'words' })).toMatchObject({ message: 'words' })
    expect(pollP1({ task_status, code: 'C', message: '' })).toMatchObject({ message: 'C' })
    expect(pollP1({ task_status })).toMatchObject({ message: 'the upstream reported FAILED (request r-1)' })
  })

  it('takes the status UNKNOWN for a task that is gone', () => {
    expect(pollP1({ task_status: 'UNKNOWN' })).toEqual({ kind: 'gone', reason: 'task status UNKNOWN' })
  })

  it.each(['', 'null', '[]', '12', '"text"', '<html>', '[['.repeat(100_000), '{"status":'])(
    'has no verdict on %.20j',
    (text) => {
      expect(pollText(text).kind).toBe('unavailable')
    },
  )
})

describe('p1.readResult', () => {
  const read = (usage: unknown) => p1.readResult({ output: { video_url: 'https://v.example/1' }, usage })

  it('bills the reported duration, and takes it for the length of a video that has no input', () => {
    expect(read({ duration: 5, SR: 720 })).toEqual({
      videoUrl: 'https://v.example/1',
      billableSeconds: '5',
      outputSeconds: '5',
      resolution: '720P',
    })
  })

  it.each([
    ['the output where it is told apart', { duration: 9, input_video_duration: 4, output_video_duration: 5 }, '5'],
    ['no length where input is counted in', { duration: 13.24, input_video_duration: 6.62 }, undefined],
    ['no length that no video can have', { duration: 21.5 }, undefined],
  ])('serves %s', (_, usage, outputSeconds) => {
    expect(read(usage)).toMatchObject({ billableSeconds: String(usage.duration), outputSeconds })
  })

  it.each([
    ...['720', 720, '720P', '720p'].map((SR) => [SR, '720P'] as const),
    ...[2160, 4320, null, 'high', {}, [], -720].map((SR) => [SR, undefined] as const),
  ])('reads the resolution %j as %s', (SR, resolution) => {
    expect(read({ SR }).resolution).toBe(resolution)
  })

  it('reads the same from the kept text as from the poll', async () => {
    const { text, result: polled } = Object(await replayFixture('p1_poll_succeeded_video_edit', p1Channel))
    expect(p1.readResult(JSON.parse(text))).toEqual(polled)
  })
})
