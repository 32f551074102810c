import { describe, expect, it } from 'vitest'
import { UPSTREAM_BROKE_OFF } from '#lambdas/relay/event-sender.ts'
import { failureOf, failureOfLine, listFailures, metDowntime } from '../../../bench/soak/soak-failures.ts'
import { ratePerMinute } from '../../../bench/traffic/check-outcome.ts'
import { formatMark } from '../../../bench/traffic/mark.ts'
import { kindOf } from '../../../bench/traffic/marked-request.ts'
import type { Outcome } from '../../../bench/traffic/send-marked.ts'

const MARK = { tenant: 3, request: 70 }

function chat(changes: Partial<Outcome> = {}): Outcome {
  const limit = String(ratePerMinute(MARK.tenant))
  return {
    mark: MARK,
    kind: 'chat',
    key: 'key-of-the-client',
    leaving: undefined,
    status: 200,
    headers: { 'x-request-id': 'a', 'x-reelgate-cost': '0.00155', 'x-ratelimit-limit-requests': limit },
    body: `{"model":"${kindOf('chat').model}","choices":[{"content":"${formatMark(MARK)}"}]}`,
    end: 'whole',
    milliseconds: 1,
    ...changes,
  }
}

describe('failureOf', () => {
  const refused =
    '{"error":{"message":"the upstream failed","type":"server_error","param":null,"code":"upstream_error"}}'

  it.each<[string, Partial<Outcome>, string | undefined]>([
    ['nothing for a whole response', {}, undefined],
    ['nothing for a client that has left', { end: 'left', status: undefined }, undefined],
    ['the status and the code of a refusal', { status: 502, body: refused }, 'status 502: upstream_error'],
    [
      'the error that ends a stream',
      { kind: 'chat stream', body: `data: ${UPSTREAM_BROKE_OFF}\n\n` },
      'a stream that ended with the error upstream_error',
    ],
    [
      'how a connection ended before a response',
      { end: 'broken', status: undefined, connectionError: 'ECONNREFUSED' },
      'no response: ECONNREFUSED',
    ],
    [
      'how a connection ended in a response',
      { end: 'broken', connectionError: 'ECONNRESET' },
      'status 200, then the connection ended: ECONNRESET',
    ],
    ['what a response lacks', { body: '{}' }, 'the response lacks its mark'],
  ])('tells %s', (_, changes, failure) => {
    expect(failureOf(chat(changes))).toBe(failure)
  })

  it('has neither the key nor the prompt of the request', () => {
    const found = failureOf(chat({ status: 500, body: '{"error":{"message":"Repeat","code":null}}' }))
    expect(found).toBe('status 500: null')
  })
})

describe('metDowntime', () => {
  it.each([
    ['was open at the SIGKILL', 15, 10, true],
    ['was sent before the next process listened', 30, 5, true],
    ['ended before', 9, 5, false],
    ['began after', 40, 5, false],
  ])('tells that a request %s', (_, endedAt, milliseconds, expected) => {
    expect(metDowntime({ endedAt, milliseconds }, [{ from: 10, to: 28 }])).toBe(expected)
  })
})

describe('failureOfLine', () => {
  it('names the error of a line of the level ERROR, and leaves out lines below WARN', () => {
    const error = { name: 'UpstreamFailedError', message: 'the upstream failed', stack: 'at secret.ts' }
    expect(failureOfLine(JSON.stringify({ level: 'ERROR', message: 'request failed', error }))).toBe(
      'request failed (UpstreamFailedError: the upstream failed)',
    )
    expect(failureOfLine('{"level":"WARN","message":"channel failed"}')).toBe('channel failed')
    expect(failureOfLine('{"level":"INFO","message":"request"}')).toBeUndefined()
  })
})

describe('listFailures', () => {
  it('counts each failure, and says in which minute a rare one was', () => {
    const often = Array.from({ length: 6 }, (_, index) => ({ failure: 'often', at: index }))
    expect(listFailures([{ failure: 'rare', at: 91_000 }, ...often], 1_000)).toEqual([
      '- 6 x often',
      '- 1 x rare, minute 1.5',
    ])
  })
})
