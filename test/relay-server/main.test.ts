import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { packRelayServer } from '#aws/pack-relay-server.ts'
import { eventually } from '../e2e/video-api.ts'
import { CHAT, type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import { unzip } from '../engines/unzip.ts'

let rig: RelayRig
let directory: string
let server: ChildProcess
let origin: string
const log: string[] = []

/** Streams that are open when the process is told to stop. */
const OPEN_STREAMS = 64

/** Lambda Web Functions wrap what is written by `console`, and leave what is written to the output itself. */
const LAMBDA_CONSOLE = `data:text/javascript,${encodeURIComponent(`
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
    console[name] = (message) => process.stdout.write(JSON.stringify({ level: 'INFO', message: String(message) }) + '\\n')
  }
`)}`

/** The deployed archive, unpacked in a folder of its own, without the repository's packages and with no variable that says where its files are. */
beforeAll(async () => {
  rig = await startRelayRig()
  directory = mkdtempSync(join(tmpdir(), 'reelgate-relay-server-'))
  const { GATEWAY_CONFIG_FILE, TOKENIZER_RANKS_FILE, LAMBDA_TASK_ROOT, ...inherited } = process.env
  const env = {
    ...inherited,
    AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:0',
    LOG_LEVEL: 'INFO',
    POWERTOOLS_METRICS_DISABLED: 'false',
  }
  unzip(packRelayServer({ root: REPOSITORY_ROOT, configurationFile: GATEWAY_CONFIG_FILE ?? '' }), directory)
  server = spawn(process.execPath, ['--import', LAMBDA_CONSOLE, join(directory, 'index.js')], {
    cwd: tmpdir(),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { promise, resolve } = Promise.withResolvers<number>()
  createInterface({ input: server.stdout ?? process.stdin }).on('line', (line) => {
    log.push(line)
    if (line.includes('relay server listens')) {
      resolve(JSON.parse(line).port)
    }
  })
  origin = `http://127.0.0.1:${await promise}`
})
afterAll(async () => {
  server.kill('SIGKILL')
  await rig.close()
  rmSync(directory, { recursive: true, force: true })
})

const CHAT_BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }

function chat(key: string, body: object = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` }
  const text = JSON.stringify({ ...CHAT_BODY, ...body })
  return fetch(`${origin}/v1/chat/completions`, { method: 'POST', headers, body: text })
}

describe('main', () => {
  it('serves from its bundle alone, and writes metrics as lines of their own', async () => {
    const { key } = await rig.tenant()
    const response = await chat(key)
    expect([response.status, Object(await response.json()).object]).toEqual([200, 'chat.completion'])
    const metrics = await eventually(
      async () => log.filter((line) => line.startsWith('{"_aws":')),
      (lines) => lines.some((line) => line.includes('relay_succeeded')),
    )
    expect(metrics.map((line) => JSON.parse(line).service)).not.toContain(undefined)
    expect(log.filter((line) => !line.startsWith('{"_aws":') && line.includes('_aws'))).toEqual([])
  })

  it('settles at once what 64 open streams delivered when it is told to stop, and ends', async () => {
    const { id, key } = await rig.tenant('1000')
    const choices = [{ index: 0, delta: { role: 'assistant', content: 'four' }, finish_reason: null }]
    const event = `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices })}\n\n`
    rig.upstreams[0]?.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event)
    })
    const readers = await Promise.all(
      Array.from({ length: OPEN_STREAMS }, async () => {
        const response = await chat(key, { stream: true })
        expect(response.status).toBe(200)
        const reader = response.body?.getReader()
        await reader?.read()
        return reader
      }),
    )
    const ended = once(server, 'exit')
    const startedAt = performance.now()
    server.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    console.log(
      `${readers.length} streams settled and the process ended in ${Math.round(performance.now() - startedAt)} ms`,
    )
    const settled = (await rig.rows(id)).filter(({ kind }) => kind === 'settle')
    expect(settled).toHaveLength(OPEN_STREAMS)
    expect(settled[0]).toMatchObject({ isEstimated: true })
    expect(await rig.balance(id)).toMatchObject({ held: '0' })
  })
})
