import { describe, expect, it } from 'vitest'
import type { WholeOutcome } from '#adapters/http/exchange-whole.ts'
import { readPollReply, statuslessOutcome } from '#adapters/providers/video/poll-reply.ts'

function reply(status: number, text: string): WholeOutcome {
  return { kind: 'response', status, headers: {}, text }
}

describe('readPollReply', () => {
  it('hands on a JSON object with a status of success, byte for byte', () => {
    const text = '\ufeff{ "status": "queued" }'
    expect(readPollReply(reply(200, text))).toEqual({ kind: 'task', status: 200, text, body: { status: 'queued' } })
  })

  it.each([
    ['404', reply(404, '{}'), 'HTTP 404'],
    ['a refusal that names an unknown task', reply(400, '{"code":"TaskNotExist"}'), 'HTTP 400 TaskNotExist'],
  ])('takes %s for a task that is gone', (_, outcome, reason) => {
    expect(readPollReply(outcome)).toEqual({ kind: 'gone', reason })
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
    expect(readPollReply(outcome)).toEqual({ kind: 'unavailable', reason })
  })
})

describe('statuslessOutcome', () => {
  const outcomeOf = (body: Record<string, unknown>) =>
    statuslessOutcome({ kind: 'task', status: 200, text: JSON.stringify(body), body })

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
