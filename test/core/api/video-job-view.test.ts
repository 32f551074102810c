import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { callbackBody, countThatFit, createdJobBody, videoJobBody, videoJobListBody } from '#core/api/video-job-view.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'

const ID = '6f1c2a9e-8a47-4d0e-9b1e-2f7f6a0c1d22'
const URL_OF_VIDEO = `https://cdn.gw.example.test/${ID}.mp4`

const job: VideoJob = {
  tenantId: 'tenant',
  jobId: ID,
  status: 'processing',
  model: 'famA-2',
  createdAt: 1_776_678_917,
  expiresAt: 1_777_283_717,
  isDeleted: false,
  videoKey: 'v/key.mp4',
  estimate: microcredits(1),
  callbackUrl: undefined,
  isWaitingForChannel: false,
  submitState: 'accepted',
  channelId: 'p2-direct',
  provider: undefined,
  submittedAt: 1_776_678_918,
  taskId: 'task',
  submitText: undefined,
  pollText: undefined,
  goneCount: 0,
  isCancelRefused: false,
  finishedAt: undefined,
  storedDurationSeconds: undefined,
  failure: undefined,
  error: undefined,
  durationSeconds: undefined,
  callbackState: undefined,
}

const succeeded: VideoJob = { ...job, status: 'succeeded', durationSeconds: '5.0' }
const failed: VideoJob = { ...job, status: 'failed', error: 'generation timed out', failureCause: 'p2-direct: 401' }

const unserved: VideoJob = { ...failed, error: 'no upstream capacity', errorCode: 'upstream_quota' }

const identity = {
  id: ID,
  object: 'video.generation',
  model: 'famA-2',
  created_at: 1_776_678_917,
  expires_at: 1_777_283_717,
}

const signUrl = () => URL_OF_VIDEO
const neverSigned = () => {
  throw new Error('a url was signed for a job that has no video')
}

const view = (of: VideoJob, members: { upstreamText?: string; nowSeconds?: number } = {}) =>
  videoJobBody(of, {
    nowSeconds: job.createdAt,
    upstreamText: undefined,
    signUrl: of.status === 'succeeded' ? signUrl : neverSigned,
    ...members,
  })

/** The upstream's answer and ours, from one recorded exchange. */
function merge(name: string): { upstream: unknown; expected: unknown } {
  const text = readFileSync(new URL(`../../fixtures/upstream/gw_merge_${name}.json`, import.meta.url), 'utf8')
  const { request, response } = JSON.parse(text)
  return { upstream: request.body, expected: response.body }
}

describe('the responses of the recorded exchanges', () => {
  it.each([
    ['p1_submit', 'famB-1.1-t2v'],
    ['p2_submit', 'famA-2-0-260128'],
    ['p2x_submit', 'famA-2'],
  ])('%s is what a client gets with the 201', (name, model) => {
    const { upstream, expected } = merge(name)
    expect(JSON.parse(createdJobBody({ ...job, model }, JSON.stringify(upstream)))).toStrictEqual(expected)
  })

  it.each([
    ['p1_succeeded', { ...succeeded, model: 'famB-1.1-t2v' }],
    ['p2_succeeded', { ...succeeded, model: 'famA-2-0-260128' }],
    ['p1_failed', { ...failed, model: 'famB-1.1-t2v', error: 'Output data may contain inappropriate content.' }],
    [
      'p2_failed',
      {
        ...failed,
        model: 'famA-2-0-260128',
        error:
          'The request failed because the output audio may be related to copyright restrictions. Request id: 0217766789',
      },
    ],
  ])('%s is what a client gets from GET', (name, of) => {
    const { upstream, expected } = merge(name)
    const body = view(of, { upstreamText: JSON.stringify(upstream) })
    expect(JSON.parse(body)).toStrictEqual(expected)
  })
})

describe('createdJobBody', () => {
  it.each([job, succeeded, failed])('says queued whatever has happened since', (of) => {
    expect(JSON.parse(createdJobBody(of, undefined))).toStrictEqual({ ...identity, status: 'queued' })
  })
})

describe('videoJobBody', () => {
  it.each([
    ['its client', { ...job, cancelledAt: 1_776_678_920 }, 'cancelled by the client'],
    ['the operator', { ...failed, error: 'cancelled by the operator' }, 'cancelled by the operator'],
  ])('of a job that %s cancelled says so beside failed, until it is expired', (_, of, error) => {
    expect(JSON.parse(view(of))).toStrictEqual({ ...identity, status: 'failed', error, cancelled: true })
    expect(JSON.parse(view(of, { nowSeconds: job.expiresAt }))).toStrictEqual({ ...identity, status: 'expired' })
    expect(JSON.parse(view(failed))).not.toHaveProperty('cancelled')
  })

  it('of a job that no channel took says why beside the error, which the callback does not', () => {
    const expected = { status: 'failed', error: 'no upstream capacity' }
    expect(JSON.parse(view(unserved))).toStrictEqual({ ...identity, ...expected, error_code: 'upstream_quota' })
    expect(JSON.parse(view({ ...unserved, cancelledAt: 1 }))).not.toHaveProperty('error_code')
    expect(JSON.parse(view(unserved, { nowSeconds: job.expiresAt }))).not.toHaveProperty('error_code')
    expect(JSON.parse(callbackBody(unserved, { signUrl: neverSigned }))).toStrictEqual({ id: ID, ...expected })
  })

  it.each(['queued', 'processing'] as const)('of a %s job has the identity alone beside the upstream', (status) => {
    const body = view({ ...job, status }, { upstreamText: '{"url":"theirs","progress":5.0}' })
    expect(JSON.parse(body)).toStrictEqual({ ...identity, status, url: 'theirs', progress: 5 })
    expect(body).toContain('"progress":5.0')
  })

  it('has url and length exactly when it succeeded', () => {
    expect(JSON.parse(view(succeeded))).toStrictEqual({
      ...identity,
      status: 'succeeded',
      url: URL_OF_VIDEO,
      duration_secs: 5,
    })
    expect(view(succeeded)).toContain('"duration_secs":5.0')
  })

  it('has the error exactly when it failed', () => {
    expect(JSON.parse(view(failed))).toStrictEqual({ ...identity, status: 'failed', error: 'generation timed out' })
  })

  it.each([undefined, ''])('has a length of null where nothing tells it (%j)', (durationSeconds) => {
    expect(JSON.parse(view({ ...succeeded, durationSeconds }))).toMatchObject({ duration_secs: null })
  })

  it.each([
    ['007', '7'],
    ['00.50', '0.50'],
    ['0', '0'],
    ['13.24', '13.24'],
  ])('writes the length %s as the JSON number %s', (durationSeconds, number) => {
    expect(view({ ...succeeded, durationSeconds })).toContain(`"duration_secs":${number}}`)
  })

  it.each([job, failed, { ...job, status: 'queued' as const }, succeeded])(
    'reads expired from the second of its end on, without outcome and without signing',
    (of) => {
      const at = (nowSeconds: number) =>
        JSON.parse(videoJobBody(of, { nowSeconds, upstreamText: '{"a":1}', signUrl: neverSigned }))
      expect(at(of.expiresAt)).toStrictEqual({ a: 1, ...identity, status: 'expired' })
      expect(at(of.expiresAt + 1_000_000)).toStrictEqual({ a: 1, ...identity, status: 'expired' })
    },
  )

  it.each([job, failed, succeeded])('is itself in the second before its end', (of) => {
    expect(JSON.parse(view(of, { nowSeconds: of.expiresAt - 1 })).status).toBe(of.status)
  })
})

describe('callbackBody', () => {
  it('of a success is exactly id, status, url and length', () => {
    const expected = { id: ID, status: 'succeeded', url: URL_OF_VIDEO, duration_secs: 5 }
    expect(JSON.parse(callbackBody(succeeded, { signUrl }))).toStrictEqual(expected)
  })

  it('of a failure is exactly id, status and error', () => {
    const expected = { id: ID, status: 'failed', error: 'generation timed out' }
    expect(JSON.parse(callbackBody(failed, { signUrl: neverSigned }))).toStrictEqual(expected)
  })
})

describe('countThatFit', () => {
  it('is all of a usual page, ends a page that would not fit into one response, and never stops at nothing', () => {
    const megabyte = 'x'.repeat(1_000_000)
    expect(countThatFit([])).toBe(0)
    expect(countThatFit(Array(100).fill('{}'))).toBe(100)
    expect(countThatFit(Array(20).fill(megabyte))).toBe(4)
    expect(countThatFit([megabyte.repeat(5), '{}'])).toBe(1)
  })
})

describe('videoJobListBody', () => {
  it('holds the texts of the jobs as they are, and the position of the last', () => {
    const body = videoJobListBody(['{"n":5.0}', '{"n":12345678901234567890}'], { hasMore: true, lastId: ID })
    expect(body).toContain('"data":[{"n":5.0},{"n":12345678901234567890}]')
    expect(JSON.parse(body)).toMatchObject({ object: 'list', has_more: true, last_id: ID })
  })

  it('of nothing has an empty list and no position', () => {
    const body = videoJobListBody([], { hasMore: false, lastId: null })
    expect(JSON.parse(body)).toStrictEqual({ object: 'list', data: [], has_more: false, last_id: null })
  })
})
