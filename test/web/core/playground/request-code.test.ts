import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type CodeTool,
  type PlaygroundRequest,
  refusalOf,
  requestCode,
  toolsOf,
} from '../../../../web/src/core/playground/request-code.ts'

const run = promisify(execFile)
const PROMPT = `it's a "fox"; $(touch nothing) \`id\` \\ $HOME\nnew line`
const BODIES = {
  video: { model: 'famB-1.1-t2v', prompt: PROMPT, duration: 5 },
  image: { model: 'image-default', prompt: PROMPT, n: 1, response_format: 'b64_json' },
  chat: {
    model: 'chat-default',
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: PROMPT },
    ],
    stream: true,
  },
} as const

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='

const REPLIES: Readonly<Record<string, readonly [type: string, body: string]>> = {
  '/v1/video/generations': ['application/json', '{"id":"job-1","status":"queued"}'],
  '/v1/video/generations/job-1': [
    'application/json',
    '{"id":"job-1","status":"succeeded","url":"https://v.example/1"}',
  ],
  '/v1/images/generations': ['application/json', JSON.stringify({ created: 1, data: [{ b64_json: PNG }] })],
  '/v1/chat/completions': [
    'text/event-stream',
    'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}\n\ndata: [DONE]\n\n',
  ],
}

/** Sends what the arguments say as curl does, because a fresh machine may have no curl. */
const CURL = `#!${process.execPath}
const values = (name) => process.argv.flatMap((each, index) => (each === name ? [process.argv[index + 1]] : []))
const url = process.argv.find((each) => each.startsWith('http'))
const headers = values('-H').map((line) => line.split(': '))
fetch(url, { method: 'POST', headers, body: values('-d')[0] })
  .then((response) => response.text())
  .then((body) => process.stdout.write(body))
`

const received: {
  readonly url: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}[] = []
let server: Server
let origin = ''
let folder = ''

beforeAll(async () => {
  server = createServer({ keepAliveTimeout: 0 }, (request: IncomingMessage, response) => {
    void text(request).then((body) => {
      received.push({ url: request.url, authorization: request.headers.authorization, body })
      const [type, reply] = REPLIES[request.url ?? ''] ?? ['text/plain', '']
      response.writeHead(200, { 'content-type': type }).end(reply)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // Below the project, so that the code finds the SDKs.
  folder = await mkdtemp(join(import.meta.dirname, 'run-'))
  await writeFile(join(folder, 'curl'), CURL, { mode: 0o755 })
})

afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

/** Runs the code as a reader would, and returns what it prints. */
async function runCode(tool: CodeTool, kind: PlaygroundRequest['kind']): Promise<string> {
  received.length = 0
  const code = requestCode(tool, { kind, origin, body: BODIES[kind] })
  const environment = {
    ...process.env,
    REELGATE_API_KEY: 'rg_live_example',
    NODE_OPTIONS: '',
    PATH: `${folder}:${process.env.PATH}`,
  }
  if (tool === 'curl') {
    return (await run('sh', ['-c', code], { env: environment })).stdout
  }
  const file = join(folder, `${tool}-${kind}.mjs`)
  await writeFile(file, code)
  return (await run(process.execPath, [file], { env: environment })).stdout
}

describe('requestCode', () => {
  it.each([
    ['curl', 'video', '"queued"'],
    ['fetch', 'video', 'succeeded https://v.example/1'],
    ['openai', 'video', 'succeeded https://v.example/1'],
    ['curl', 'chat', 'hello'],
    ['openai', 'chat', 'hello'],
    ['ai-sdk', 'chat', 'hello'],
    ['curl', 'image', PNG],
    ['openai', 'image', '1 images'],
    ['ai-sdk', 'image', '1 images'],
  ] as const)(
    '%s code of a %s request runs and sends the prompt unchanged with the key of the environment',
    async (tool, kind, printed) => {
      expect(await runCode(tool, kind)).toContain(printed)
      const [sent] = received
      expect(sent?.authorization).toBe('Bearer rg_live_example')
      expect(sent?.body).toContain(JSON.stringify(PROMPT).slice(1, -1))
    },
  )
})

describe('requestCode for Python', () => {
  it('is the official package with the key of the environment, and the body as literals of Python', () => {
    const body = { model: 'chat-default', messages: [{ role: 'user', content: PROMPT }], stream: true, stop: null }
    expect(requestCode('python', { kind: 'chat', origin: 'http://127.0.0.1:8787', body })).toBe(`import os
from openai import OpenAI

client = OpenAI(base_url="http://127.0.0.1:8787/v1", api_key=os.environ["REELGATE_API_KEY"])

for chunk in client.chat.completions.create(**{
    "model": "chat-default",
    "messages": [
        {
            "role": "user",
            "content": ${JSON.stringify(PROMPT)},
        },
    ],
    "stream": True,
    "stop": None,
}):
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
`)
  })
})

describe('toolsOf', () => {
  it('has a tab for the AI SDK also for videos, where a sentence says what to take', () => {
    expect(toolsOf('video')).toContain('ai-sdk')
    expect(refusalOf('ai-sdk', 'video')).toMatch(/no video models.*openai or fetch/)
    expect(toolsOf('chat').map((tool) => refusalOf(tool, 'chat'))).toEqual([undefined, undefined, undefined, undefined])
  })
})
