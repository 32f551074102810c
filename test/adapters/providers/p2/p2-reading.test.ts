import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { p1PollOutcome, readP1Result } from '#adapters/providers/p1/p1-reading.ts'
import { p2PollOutcome } from '#adapters/providers/p2/p2-reading.ts'
import { readP2Result } from '#adapters/providers/p2/p2-result.ts'

const poll = (body: unknown, status = 200) =>
  p2PollOutcome({ kind: 'response', status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) })
const read = (body: unknown) => readP2Result(JSON.stringify(body))

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

describe('readP2Result', () => {
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

describe('odd answers', () => {
  const readers = [p1PollOutcome, p2PollOutcome]
  const answer = (text: string) => ({ kind: 'response', status: 200, headers: {}, text }) as const

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
        for (const reader of readers) {
          expect(reader(answer(text)).kind).toBeDefined()
        }
        expect([readP1Result(text), readP2Result(text)]).toHaveLength(2)
      }),
    )
  })

  it.each(['', 'null', '[]', '12', '"text"', '<html>', '[['.repeat(100_000), '{"status":'])(
    'has no verdict on %.20j',
    (text) => {
      expect(readers.map((reader) => reader(answer(text)).kind)).toEqual(['unavailable', 'unavailable'])
    },
  )

  it('survives an answer nested a hundred thousand deep', () => {
    const text = `{"status":"succeeded","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(p2PollOutcome(answer(text)).kind).toBe('succeeded')
  })

  it('reads behind a byte order mark, which stays in the text', () => {
    const text = '\ufeff{"status":"running"}'
    expect(p2PollOutcome(answer(text))).toEqual({ kind: 'running', text, isKnownStatus: true })
  })
})

describe('p1PollOutcome', () => {
  const pollP1 = (output: unknown) =>
    p1PollOutcome({ kind: 'response', status: 200, headers: {}, text: JSON.stringify({ output, request_id: 'r-1' }) })

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
})
