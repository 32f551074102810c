import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type LogForm, logRequest, writeLog } from '#local/log-lines.ts'
import { logger } from '#platform/telemetry/logger.ts'

const environment = { ...process.env }
afterEach(() => {
  process.env = { ...environment }
})

/** What a request writes whose function logs this. */
async function linesOf(
  log: () => void,
  {
    form = 'lines',
    level = 'INFO',
    url = '/v1/balance?token=1',
  }: { form?: LogForm; level?: string; url?: string } = {},
): Promise<string[]> {
  process.env.LOG_LEVEL = level
  const lines: string[] = []
  writeLog(form, (line) => lines.push(line))
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url })
  await logRequest(request, new ServerResponse(request), async () => log())
  return lines.map((line) => line.replace(/^\d\d:\d\d:\d\d\.\d{3}/, 'TIME'))
}

const CHAT = { ...{ operation: 'create-chat-completion', requestId: 'r1', statusCode: 200, durationMilliseconds: 109 } }

class UpstreamFailedError extends Error {
  override readonly name = 'UpstreamFailedError'
  readonly statusCode = 502
}

describe('the log of a local host', () => {
  it('has one line for a request, with what was used and the ids', async () => {
    const usage = { inputTokens: 7, outputTokens: 15, billedCredits: 0.00001, firstByteMilliseconds: 92 }
    const facts = { ...CHAT, ...usage, tenantId: 'demo', model: 'chat-default', channelId: 'openai-main' }
    expect(await linesOf(() => logger.info('request', facts), { url: '/v1/chat/completions' })).toStrictEqual([
      'TIME  GET /v1/chat/completions 200 109 ms  chat-default by openai-main  7 + 15 tokens  0.00001 credits  tenant demo  r1',
    ])
  })

  it('has only the tokens that a reply counts', async () => {
    const facts = { ...CHAT, inputTokens: 7, model: 'text-embedding-3-small' }
    const [line] = await linesOf(() => logger.info('request', facts), { url: '/v1/embeddings' })
    expect(line).toContain('text-embedding-3-small  7 tokens  r1')
  })

  it('has one line for a request that no function has logged, such as a video, without the query of its url', async () => {
    const lines = await linesOf(() => undefined, { url: '/v/demo/1.mp4?Expires=1&Signature=secret' })
    expect(lines).toStrictEqual([expect.stringMatching(/^TIME {2}GET \/v\/demo\/1\.mp4 200 \d+ ms$/)])
  })

  it('shows no key that stands in a path', async () => {
    const [line] = await linesOf(() => undefined, { url: '/v1/rg_live_abcdefgh_0123456789' })
    expect(line).toContain('GET /v1/[redacted] 200')
  })

  it('says why the key or token of a request was refused', async () => {
    const refused = { ...CHAT, statusCode: 401, errorCode: 'invalid_token', reason: 'it has expired (exp)' }
    const [line] = await linesOf(() => logger.info('request', refused))
    expect(line).toBe('TIME  GET /v1/balance 401 109 ms  invalid_token: it has expired (exp)  r1')
  })

  it('says why a request failed that no earlier line explains', async () => {
    const [line] = await linesOf(() => {
      logger.error('request failed', { requestId: 'r1', error: new UpstreamFailedError('the reply broke off') })
      logger.info('request', { ...CHAT, statusCode: 502 })
    })
    expect(line).toBe('TIME  ERROR request failed: UpstreamFailedError: the reply broke off  requestId=r1')
  })

  it('has one line for a failure of an upstream, and none for the error that the response has told', async () => {
    const failure = () => {
      logger.warn('channel failed', { requestId: 'r1', channelId: 'openai-main', reason: 'HTTP 500' })
      logger.error('request failed', { requestId: 'r1', error: new UpstreamFailedError('no reply') })
      logger.info('request', { ...CHAT, statusCode: 502 })
    }
    expect(await linesOf(failure)).toStrictEqual([
      'TIME  WARN channel failed: HTTP 500  requestId=r1  channelId=openai-main',
      'TIME  GET /v1/balance 502 109 ms  r1',
    ])
    const [, debugged] = await linesOf(failure, { level: 'DEBUG' })
    expect(debugged).toMatch(
      /^TIME {2}ERROR request failed: UpstreamFailedError: no reply {2}requestId=r1 {2}\n {4}at /,
    )
  })

  it('shows the stack of a bug at any level', async () => {
    const [line] = await linesOf(() => logger.error('request failed', { error: new TypeError('oops') }), {
      level: 'ERROR',
    })
    expect(line).toMatch(/^TIME {2}ERROR request failed: TypeError: oops {2}\n {4}at /)
  })

  it('is JSON where it is asked for, with method and path, and without stacks of upstream failures', async () => {
    const failure = () => {
      logger.error('request failed', { requestId: 'r1', error: new UpstreamFailedError('no reply') })
      logger.info('request', CHAT)
    }
    const json = (lines: string[]) => lines.map((line) => JSON.parse(line))
    const [told, request] = json(await linesOf(failure, { form: 'json' }))
    expect(told).toMatchObject({ level: 'ERROR', error: { name: 'UpstreamFailedError', statusCode: 502 } })
    expect(Object.keys(told.error)).not.toContain('stack')
    expect(request).toMatchObject({ ...CHAT, level: 'INFO', message: 'request', method: 'GET', path: '/v1/balance' })
    const [debugged] = json(await linesOf(failure, { form: 'json', level: 'DEBUG' }))
    expect(debugged.error.stack).toContain('at ')
  })

  it('has one line for a submit to a busy channel', async () => {
    const [line] = await linesOf(() => {
      logger.info('submitted', { jobId: 'j1', outcome: 'busy' })
      logger.warn('channel busy', { jobId: 'j1', reason: 'HTTP 429' })
    })
    expect(line).toBe('TIME  WARN channel busy: HTTP 429  jobId=j1')
  })

  it('says that LOG_LEVEL names no level', async () => {
    expect(await linesOf(() => undefined, { level: 'loud', url: '/health' })).toStrictEqual([
      'TIME  WARN LOG_LEVEL=loud is no level, so it is INFO; use TRACE, DEBUG, INFO, WARN, ERROR, SILENT, CRITICAL',
      expect.stringContaining('GET /health'),
    ])
  })

  it('has no requests at the level WARN', async () => {
    expect(await linesOf(() => logger.info('request', CHAT), { level: 'WARN' })).toStrictEqual([])
  })
})
