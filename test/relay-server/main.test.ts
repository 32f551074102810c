import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { eventually } from '../e2e/video-client.ts'
import { type RelayArchive, startRelayArchive } from '../engines/relay-archive.ts'
import { CHAT, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const rig = useOpened(startRelayRig)
let archive: RelayArchive

/** Streams that are open when the process is told to stop. */
const OPEN_STREAMS = 4

/** Of the archive, after the rig has started. */
function archiveEnvironment() {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL_DYNAMODB, TABLE_NAME } = process.env
  return {
    AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY,
    AWS_ENDPOINT_URL_DYNAMODB,
    TABLE_NAME,
    POWERTOOLS_SERVICE_NAME: 'reelgate',
    POWERTOOLS_METRICS_NAMESPACE: 'Reelgate',
    LOG_LEVEL: 'INFO',
    POWERTOOLS_METRICS_DISABLED: 'false',
  }
}

beforeAll(async () => {
  const configurationFile = process.env.GATEWAY_CONFIG_FILE ?? ''
  archive = await startRelayArchive({ configurationFile, environment: archiveEnvironment() })
})
afterAll(async () => {
  await archive.close()
})

const CHAT_BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }

function chat(key: string, body: object = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` }
  const text = JSON.stringify({ ...CHAT_BODY, ...body })
  return fetch(`${archive.origin}/v1/chat/completions`, { method: 'POST', headers, body: text })
}

describe('main', () => {
  it('serves from its bundle alone, and writes metrics as lines of their own', async () => {
    const { key } = await rig.tenant()
    const response = await chat(key)
    expect([response.status, Object(await response.json()).object]).toEqual([200, 'chat.completion'])
    const metrics = await eventually(
      async () => archive.log.filter((line) => line.startsWith('{"_aws":')),
      (lines) => lines.some((line) => line.includes('relay_succeeded')),
    )
    expect(metrics.map((line) => JSON.parse(line).service)).not.toContain(undefined)
    expect(archive.log.filter((line) => !line.startsWith('{"_aws":') && line.includes('_aws'))).toEqual([])
  })

  it('writes log lines that nothing wraps, so that their fields can be searched', async () => {
    const { key } = await rig.tenant()
    await (await chat(key)).arrayBuffer()
    const messages = await eventually(
      async () => archive.log.map((line): unknown => Object(JSON.parse(line)).message),
      (found) => found.includes('request'),
    )
    expect(messages).toContain('relay server listens')
    expect(messages.filter((each) => String(each).startsWith('{'))).toEqual([])
  })

  it.each(['0.0.0.0:0', '[::]:0', undefined])(
    'ends at once where others reach it and it has no secret of a front door: %s',
    (endpoint) => {
      const { status, stderr } = spawnSync(process.execPath, ['index.js'], {
        cwd: archive.directory,
        env: {
          ...archiveEnvironment(),
          AWS_REGION: 'us-east-1',
          ...(endpoint === undefined ? {} : { AWS_LAMBDA_HTTP_ENDPOINT: endpoint }),
        },
        encoding: 'utf8',
      })
      expect(status).not.toBe(0)
      expect(stderr).toContain('FRONT_DOOR_SECRET_ARN is not set')
    },
  )

  it('listens on an address of IPv6 without a lookup of a name', () => {
    // An address for documentation (RFC 3849), which no machine has: the server gets as far as the attempt to listen.
    const { stderr } = spawnSync(process.execPath, ['index.js'], {
      cwd: archive.directory,
      env: {
        ...archiveEnvironment(),
        AWS_REGION: 'us-east-1',
        AWS_LAMBDA_HTTP_ENDPOINT: '[2001:db8::1]:3000',
        FRONT_DOOR_SECRET_ARN: 'arn',
      },
      encoding: 'utf8',
      timeout: 10_000,
    })
    expect(stderr).toMatch(/listen E\w+/)
    expect(stderr).not.toContain('ENOTFOUND')
  })

  it('settles what open streams delivered when it is told to stop, and ends', async () => {
    const { id, key } = await rig.tenant('1000')
    const choices = [{ index: 0, delta: { role: 'assistant', content: 'four' }, finish_reason: null }]
    const event = `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices })}\n\n`
    rig.upstreams[0]?.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event)
    })
    await Promise.all(
      Array.from({ length: OPEN_STREAMS }, async () => {
        const response = await chat(key, { stream: true })
        expect(response.status).toBe(200)
        const reader = response.body?.getReader()
        await reader?.read()
      }),
    )
    const ended = once(archive.process, 'exit')
    archive.process.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    const settled = (await rig.rows(id)).filter(({ kind }) => kind === 'settle')
    expect(settled).toHaveLength(OPEN_STREAMS)
    expect(settled[0]).toMatchObject({ isEstimated: true })
    expect(await rig.balance(id)).toMatchObject({ held: '0' })
  })
})
