import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import endRun from './end-run.ts'
import { findSecrets } from './find-secrets.ts'
import { keepChildOutput } from './keep-child-output.ts'
import { DIRECTORY_VARIABLE, logDirectory, openLog } from './kept-logs.ts'

const log = (member: string) => `{"level":"INFO","message":"x","what":"${member}"}`

const PLANTED = [
  ['an API key', 'rg_live_abc'],
  ['a callback secret', 'whsec_abc='],
  ['a signature of a callback', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9'],
  ['an Authorization header', 'Bearer abc'],
  ['an Authorization header', 'authorization: x'],
  ['a signed url', 'https://cdn.example/v/1?Expires=1&Signature=abc'],
  ['a signed url', 'https://bucket.example/v/1?X-Amz-Signature=abc'],
  ['a signed url', 'https://cdn.example/v/1?Key-Pair-Id=K1'],
  ['a private key', '-----BEGIN PRIVATE KEY-----'],
  ["an upstream's key", 'upstream-key'],
  ['a prompt', 'a boat'],
] as const

const before = logDirectory()
const planted = mkdtempSync(join(tmpdir(), 'reelgate-planted-'))
afterAll(() => {
  process.env[DIRECTORY_VARIABLE] = before
  rmSync(planted, { recursive: true, force: true })
})

describe('the search of the logs', () => {
  it.each(PLANTED)('finds %s: %s', (kind, secret) => {
    expect(findSecrets(`${log('fine')}\n${log(secret)}\n`, 'stdout')).toEqual([{ kind, line: log(secret) }])
    expect(findSecrets(`TypeError: ${secret}`, 'stderr')).toEqual([{ kind, line: `TypeError: ${secret}` }])
  })

  it('takes metrics for logs, and an answer on the standard output of a command for none', () => {
    expect(findSecrets('{"_aws":{},"model":"rg_live_abc"}', 'stdout')).toHaveLength(1)
    expect(findSecrets('demo key        rg_live_abc', 'stdout')).toEqual([])
  })

  it('lets public ids, urls without a signature and the words of our own errors be', () => {
    const lines = [
      log('key 1a2b3c'),
      log('https://upstream.example/v1?limit=2'),
      log('a cathedral'),
      log('invalid api key'),
      log('send it as `Authorization: Bearer <key>`'),
    ]
    expect(findSecrets(lines.join('\n'), 'stderr')).toEqual([])
  })

  it('fails the run whose logs hold a secret, and shows the line', () => {
    process.env[DIRECTORY_VARIABLE] = mkdtempSync(join(planted, 'run-'))
    const { write, close } = openLog('worker', 'stdout')
    write(`${log('rg_live_abc')}\n`)
    close()
    expect(endRun).toThrow(/hold 1 secrets:\n {2}an API key: \{"level"/)
    process.env[DIRECTORY_VARIABLE] = before
  })

  it('is of all that the code under test logs: lines, errors and metrics of this very file', () => {
    const mark = `mark-${process.pid}-${Date.now()}`
    logger.setLogLevel('DEBUG')
    delete process.env.POWERTOOLS_METRICS_DISABLED
    logger.debug(mark)
    logger.error(mark)
    count('overdraft', { model: mark })
    expect(before).toBeDefined()
    expect(linesWith(mark)).toHaveLength(3)
  })

  it('is of all that is printed by the console, whichever method it takes', () => {
    const mark = `console-mark-${process.pid}-${Date.now()}`
    for (const method of ['error', 'warn', 'log', 'info', 'debug'] as const) {
      console[method](log(mark))
    }
    expect(linesWith(mark)).toHaveLength(5)
  })

  it('is of all that processes of the tests print', async () => {
    const mark = `child-mark-${process.pid}`
    const child = spawn(process.execPath, ['-e', `console.log("${mark}"); console.error("${mark}")`])
    keepChildOutput(child)
    await once(child, 'close')
    expect(linesWith(mark)).toHaveLength(2)
  })
})

function linesWith(mark: string): readonly string[] {
  const directory = before ?? ''
  return readdirSync(directory)
    .flatMap((file) => readFileSync(join(directory, file), 'utf8').split('\n'))
    .filter((line) => line.includes(mark))
}
