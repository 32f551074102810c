import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { numberOfErrorClass, type UpstreamErrorClass } from '#core/measures.ts'
import type { WholeOutcome, WholeRequest } from '#platform/http/http-client.ts'
import { createJobUpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { openVideoAccount } from '#upstream/providers/video-account.ts'
import { captureMetrics } from '../../engines/emitted-metrics.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'

const [channel] = testCatalogue().videoChannels('famA-2', { directOnly: false })

let metrics: ReturnType<typeof captureMetrics>
let sent: WholeRequest[]
let answer: WholeOutcome
beforeAll(() => {
  metrics = captureMetrics()
})
afterAll(() => {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
})
beforeEach(() => {
  sent = []
  answer = response(200, '{"status":"queued"}')
})

function response(status: number, text = ''): WholeOutcome {
  return { kind: 'response', status, headers: {}, text }
}

function httpOf(requestId: string | undefined) {
  const http = {
    send: async (request: WholeRequest) => {
      sent.push(request)
      return answer
    },
    close: () => undefined,
  }
  return createJobUpstreamHttp(http, { channelId: 'main', requestId })
}

function providerOf(requestId: string | undefined) {
  if (channel === undefined) {
    throw new Error('no channel')
  }
  return openVideoAccount(channel, { credential: async () => 'k', http: httpOf(requestId) })
}

const idsSent = () => sent.map(({ headers }) => headers['X-Client-Request-Id'])

describe('the calls of a job to its upstream', () => {
  it('carry the id of the request that made it: each poll and each call of a cancel, beside the key', async () => {
    const provider = providerOf('req-1')
    await provider.poll('task')
    await provider.cancel('task')
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'GET', 'DELETE'])
    for (const { headers } of sent) {
      expect(headers).toEqual({ Authorization: 'Bearer k', 'X-Client-Request-Id': 'req-1' })
    }
  })

  it.each([undefined, '', 'with a blank', 'line\r\nbreak', 'ümlaut', 'x'.repeat(129)])(
    'carry none where the job has none that is a token: %j',
    async (requestId) => {
      await providerOf(requestId).poll('task')
      expect(idsSent()).toEqual([undefined])
    },
  )
})

/** Lines of successes are written in a later turn. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('a failed call of an upstream', () => {
  beforeEach(nextTurn)

  const silence = (kind: 'not_sent' | 'no_response', reason: string): WholeOutcome => ({ kind, reason })
  const FAILURES: readonly (readonly [UpstreamErrorClass, WholeOutcome])[] = [
    ['connect_error', silence('not_sent', 'ECONNREFUSED')],
    ['timeout', silence('no_response', 'timeout')],
    ['broken_reply', silence('no_response', 'ECONNRESET')],
    ['odd_body', response(200, '<html>')],
    ['http_4xx', response(404, '{}')],
    ['rate_limited', response(429, '{}')],
    ['http_5xx', response(503, '<html>')],
  ]

  it.each(FAILURES)('counts as %s of its channel, and comes back as it was', async (errorClass, failure) => {
    answer = failure
    const count = metrics.emitted().length
    const request = { method: 'GET', url: 'http://127.0.0.1:9/', headers: {}, limits: LIMITS } as const
    expect(await httpOf('r').send(request)).toBe(failure)
    const emitted = metrics.emitted().slice(count)
    expect(emitted.map(({ name }) => name)).toEqual(expect.arrayContaining(['upstream_milliseconds', 'upstream_error']))
    expect(emitted.find(({ name }) => name === 'upstream_error')).toMatchObject({
      value: numberOfErrorClass(errorClass),
      dimensions: { channel: 'main' },
    })
  })

  it.each([response(200, '{"a":1}'), response(204)])(
    'is not one that succeeded, which is measured alone',
    async (success) => {
      answer = success
      const count = metrics.emitted().length
      await httpOf('r').send({ method: 'GET', url: 'http://127.0.0.1:9/', headers: {}, limits: LIMITS })
      await nextTurn()
      expect(
        metrics
          .emitted()
          .slice(count)
          .map(({ name }) => name),
      ).toEqual(['upstream_milliseconds'])
    },
  )
})

const LIMITS = {
  connectMilliseconds: 1,
  totalMilliseconds: 1,
  bytesMax: 1,
  connection: 'own',
} as const
