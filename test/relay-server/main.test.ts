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
  server = spawn(process.execPath, [join(directory, 'index.js')], {
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
  })

  it('settles what a stream delivered when it is told to stop, and ends', async () => {
    const { id, key } = await rig.tenant()
    rig.upstreams[0]?.answerWith((response) => {
      const choices = [{ index: 0, delta: { role: 'assistant', content: 'four' }, finish_reason: null }]
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices })}\n\n`)
    })
    const response = await chat(key, { stream: true })
    const reader = response.body?.getReader()
    await reader?.read()
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect((await rig.rows(id))[0]).toMatchObject({ kind: 'settle', isEstimated: true })
    expect(await rig.balance(id)).toMatchObject({ held: '0' })
  })
})
