import { describe, expect, it } from 'vitest'
import { p2PollOutcome } from '#adapters/providers/p2/p2-reading.ts'

const poll = (body: unknown, status = 200) =>
  p2PollOutcome({ kind: 'response', status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) })

describe('p2PollOutcome', () => {
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

  it('has no verdict without an answer', () => {
    expect(p2PollOutcome({ kind: 'no_response', reason: 'timeout' })).toEqual({
      kind: 'unavailable',
      reason: 'timeout',
    })
  })
})

describe('p2PollOutcome of an odd reply', () => {
  const reply = (text: string) => ({ kind: 'response', status: 200, headers: {}, text }) as const

  it.each(['', 'null', '[]', '12', '"text"', '<html>', '[['.repeat(100_000), '{"status":'])(
    'has no verdict on %.20j',
    (text) => {
      expect(p2PollOutcome(reply(text)).kind).toBe('unavailable')
    },
  )

  it('survives a reply nested a hundred thousand deep', () => {
    const text = `{"status":"succeeded","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(p2PollOutcome(reply(text)).kind).toBe('succeeded')
  })

  it('reads behind a byte order mark, which stays in the text', () => {
    const text = '\ufeff{"status":"running"}'
    expect(p2PollOutcome(reply(text))).toEqual({ kind: 'running', text, isKnownStatus: true })
  })
})
