import { describe, expect, it } from '@jest/globals'
import { p1 } from '#core/providers/p1.ts'
import { p2 } from '#core/providers/p2.ts'
import type { WholeOutcome } from '#platform/http/http-client.ts'
import { cancelOutcome, pollOutcome, submitOutcome } from '#upstream/providers/video-account.ts'

const NOW = Date.parse('2026-04-20T10:00:00Z')

function outcome(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return submitOutcome({ kind: 'response', status, headers, text }, p2.readTaskId, NOW)
}

const flat = (code: unknown, message = 'upstream words') => ({ code, message, request_id: 'r' })
const nested = (code: unknown, message = 'upstream words', type?: string) => ({ error: { code, message, type } })

describe('submitOutcome', () => {
  it('may be tried again only when nothing was sent', () => {
    expect(submitOutcome({ kind: 'not_sent', reason: 'ECONNREFUSED' }, p1.readTaskId, NOW).kind).toBe('unreachable')
    expect(submitOutcome({ kind: 'no_response', reason: 'ECONNRESET' }, p1.readTaskId, NOW).kind).toBe('unknown')
  })

  it.each([400, 409, 413, 415, 422, 418, 451])('lets the job fail with the words of a %i', (status) => {
    expect(outcome(status, nested('Whatever'))).toMatchObject({ kind: 'rejected', message: 'upstream words' })
  })

  it.each([401, 402, 403, 404, 405, 410])('blames the channel for a %i', (status) => {
    expect(outcome(status, '<html>').kind).toBe('channel_refused')
    expect(outcome(status, nested(null, 'x', 'invalid_request_error')).kind).toBe('channel_refused')
  })

  it.each([100, 301, 302, 307, 308, 408, 499, 500, 502, 504, 529])('never repeats after a %i', (status) => {
    expect(outcome(status, nested('Throttling')).kind).toBe('unknown')
    expect(outcome(status, '').kind).toBe('unknown')
  })

  it('takes a 503 for busy only when the upstream itself says so', () => {
    expect(outcome(503, flat('ModelUnavailable')).kind).toBe('busy')
    expect(outcome(503, { error: 'overloaded' }).kind).toBe('busy')
    expect(outcome(503, '<html>503 from something in between</html>').kind).toBe('unknown')
    expect(outcome(503, {}).kind).toBe('unknown')
    expect(outcome(503, []).kind).toBe('unknown')
  })

  it.each([
    'Arrearage',
    'PrepaidBillOverdue',
    'PostpaidBillOverdue',
    'CommodityNotPurchased',
    'Throttling.AllocationQuota',
    'AllocationQuota.FreeTierOnly',
    'Model.AccessDenied',
    'QuotaExceeded',
    'SetLimitExceeded',
    'OperationDenied.ServiceOverdue',
    'InvalidEndpoint.ClosedEndpoint',
    'insufficient_user_quota',
    'insufficient_quota',
  ])('blames the channel for %s under any refusing status', (code) => {
    expect([400, 403, 429].map((status) => outcome(status, flat(code)).kind)).toEqual(Array(3).fill('channel_refused'))
    expect(outcome(200, flat(code)).kind).toBe('channel_refused')
  })

  it('blames the channel for an empty account that has no code', () => {
    expect(outcome(400, { error: 'Insufficient balance' }).kind).toBe('channel_refused')
    expect(outcome(403, nested('', 'your account: insufficient user quota')).kind).toBe('channel_refused')
  })

  it.each([
    'DataInspectionFailed',
    'SensitiveContentDetected.SevereViolation',
    'InputTextRiskDetection',
    'OutputVideoSensitiveContentDetected',
    'content_policy_violation',
  ])('lets the job fail for %s under any refusing status', (code) => {
    expect([400, 403, 429, 200].map((status) => outcome(status, nested(code)).kind)).toEqual(Array(4).fill('rejected'))
  })

  it.each(['Throttling', 'Throttling.RateQuota', 'LimitRequests', 'InflightBatchsizeExceeded', 'SomethingNew'])(
    'waits after a 429 %s',
    (code) => {
      expect(outcome(429, flat(code), { 'retry-after': '7' })).toEqual({
        kind: 'busy',
        reason: `HTTP 429 ${code}`,
        retryAfterSeconds: 7,
      })
    },
  )

  it('reads a refusal with a status of success by its code', () => {
    expect(outcome(200, flat('InvalidParameter')).kind).toBe('rejected')
    expect(outcome(200, flat('Throttling.RateQuota')).kind).toBe('busy')
    expect(outcome(200, flat(401)).kind).toBe('channel_refused')
    expect(outcome(200, flat(429)).kind).toBe('busy')
    expect(outcome(200, flat('InternalError')).kind).toBe('unknown')
    expect(outcome(200, flat(500)).kind).toBe('unknown')
  })

  it.each([
    '{}',
    '',
    'null',
    '[]',
    '"text"',
    '12',
    '<html>',
    '{"id":',
    '{"id":""}',
    '{"id":{}}',
    '{"id":"a b"}',
    '{"id":".."}',
  ])('does not know what came of a 200 with %j', (text) => {
    expect(outcome(200, text).kind).toBe('unknown')
  })

  it('keeps a task that has an id whatever else would have it posted again', () => {
    expect(outcome(200, { id: 't', code: 'Throttling' })).toMatchObject({ kind: 'accepted', taskId: 't' })
    expect(outcome(200, { id: 't', error: { code: 'InternalError' } })).toMatchObject({ kind: 'accepted' })
    expect(outcome(200, { id: 't', code: 'DataInspectionFailed', message: 'no' })).toMatchObject({ kind: 'rejected' })
  })

  it.each([401, 402, 403, 404, 429, 503])('does not know what came of a %i that names a task', (status) => {
    expect(outcome(status, { ...flat('X'), id: 't' })).toMatchObject({
      kind: 'unknown',
      reason: expect.stringMatching(/ with a task id$/),
    })
    expect(outcome(400, { ...flat('Throttling'), id: 't' }).kind).toBe('unknown')
    expect(outcome(400, { ...flat('InvalidParameter'), id: 't' }).kind).toBe('rejected')
  })

  it.each([
    [{ id: 'a', task_id: 'b' }, 'b'],
    [{ code: 'success', message: '', data: { task_id: 'c' } }, 'c'],
    [{ code: 0, data: 'd' }, 'd'],
    [{ id: 42 }, '42'],
    [{ task_id: null, id: 'e' }, 'e'],
  ])('finds the id in %j', (body, taskId) => {
    expect(outcome(201, body)).toMatchObject({ kind: 'accepted', taskId })
  })

  it('says something when the upstream says nothing', () => {
    expect(outcome(413, '<html>')).toMatchObject({ message: 'the upstream refused the request (HTTP 413)' })
  })

  it('keeps an enormous message within bounds and whole characters', () => {
    const { message } = Object(outcome(400, nested('X', `${'a'.repeat(1_999)}😀😀`)))
    expect(message).toHaveLength(2_000)
    expect(message.isWellFormed()).toBe(true)
  })

  it('never shows words of the request in a reason', () => {
    expect(outcome(429, flat('a prompt, repeated'))).toMatchObject({ reason: 'HTTP 429' })
  })

  it('keeps the text of the reply byte for byte', () => {
    const text = ' {"id":"t",\n "n": 5.0, "big": 12345678901234567890 }\n'
    expect(outcome(200, text)).toEqual({ kind: 'accepted', taskId: 't', text })
  })
})

function reply(status: number, text: string): WholeOutcome {
  return { kind: 'response', status, headers: {}, text }
}

describe('pollOutcome', () => {
  it('keeps a JSON object with a status of success, byte for byte', () => {
    const text = '\ufeff{ "status": "queued" }'
    expect(pollOutcome(reply(200, text), p2)).toEqual({ kind: 'running', isKnownStatus: true, text })
  })

  it.each([
    ['404', reply(404, '{}'), 'HTTP 404'],
    ['a refusal that names an unknown task', reply(400, '{"code":"TaskNotExist"}'), 'HTTP 400 TaskNotExist'],
  ])('takes %s for a task that is gone', (_, outcome, reason) => {
    expect(pollOutcome(outcome, p2)).toEqual({ kind: 'gone', reason })
  })

  it.each([
    ['no response', { kind: 'no_response', reason: 'timeout' } as const, 'timeout'],
    ['a request that was not sent', { kind: 'not_sent', reason: 'ECONNREFUSED' } as const, 'ECONNREFUSED'],
    ['a refused key', reply(401, '{"code":"InvalidApiKey"}'), 'HTTP 401 InvalidApiKey'],
    ['an unknown task behind a server error', reply(500, '{"code":"TaskNotExist"}'), 'HTTP 500 TaskNotExist'],
    ['a redirect', reply(302, '{}'), 'HTTP 302'],
    ['a page', reply(200, '<html>'), 'HTTP 200 is not a JSON object'],
    ['a JSON list', reply(200, '[]'), 'HTTP 200 is not a JSON object'],
  ])('draws no conclusion from %s', (_, outcome, reason) => {
    expect(pollOutcome(outcome, p2)).toEqual({ kind: 'unavailable', reason })
  })
})

describe('pollOutcome of a reply without a status', () => {
  const outcomeOf = (body: Record<string, unknown>) => pollOutcome(reply(200, JSON.stringify(body)), p1)

  it('takes an envelope around an unknown task for a task that is gone', () => {
    expect(outcomeOf({ code: 'task_not_exist' })).toMatchObject({ kind: 'gone' })
  })

  it('fails a task whose content the upstream refuses, with its message', () => {
    const body = { code: 'DataInspectionFailed', message: 'not this' }
    expect(outcomeOf(body)).toEqual({ kind: 'failed', text: JSON.stringify(body), message: 'not this' })
  })

  it('draws no conclusion from anything else', () => {
    expect(outcomeOf({})).toEqual({ kind: 'unavailable', reason: 'HTTP 200 without a task status' })
  })
})

describe('cancelOutcome', () => {
  const outcome = (status: number, text: string) => cancelOutcome({ kind: 'response', status, headers: {}, text })

  it.each(['{}', '{"request_id":"r"}', '', '{"code":"Success"}'])('is cancelled after a 200 with %j', (text) => {
    expect(outcome(200, text)).toBe('cancelled')
  })

  it.each([
    [200, '{"code":"UnsupportedOperation"}'],
    [400, '{"code":"UnsupportedOperation"}'],
    [409, '{}'],
  ])('is refused after a %i with %j', (status, text) => {
    expect(outcome(status, text)).toBe('refused')
  })

  it.each([
    [200, '<html>'],
    [302, ''],
    [401, ''],
    [403, ''],
    [429, '{}'],
    [404, '{}'],
    [408, ''],
    [500, '{}'],
    [503, '{"code":"x"}'],
  ])('is unknown after a %i with %j', (status, text) => {
    expect(outcome(status, text)).toBe('unknown')
  })

  it('is unknown when the request never left or no reply came', () => {
    expect(cancelOutcome({ kind: 'not_sent', reason: 'ECONNREFUSED' })).toBe('unknown')
    expect(cancelOutcome({ kind: 'no_response', reason: 'timeout' })).toBe('unknown')
  })
})
