/** A request of the playground, from which its code is written. */
export type PlaygroundRequest = {
  readonly kind: 'video' | 'chat' | 'image'
  /** Where the gateway is, such as `http://127.0.0.1:8787`. */
  readonly origin: string
  readonly body: Readonly<Record<string, unknown>>
}

/** A tool that a request can be written for. */
export type CodeTool = 'curl' | 'openai' | 'python' | 'ai-sdk' | 'fetch'

/** The variable from which every piece of code takes the key: the key of the playground ends after minutes. */
const KEY_VARIABLE = 'REELGATE_API_KEY'

const PATHS = { video: '/v1/video/generations', chat: '/v1/chat/completions', image: '/v1/images/generations' } as const

/** The tools of a kind of request, in the order of their tabs. A tool that people look for has its tab also where it cannot be used. */
export function toolsOf(kind: PlaygroundRequest['kind']): readonly CodeTool[] {
  return kind === 'video' ? ['curl', 'openai', 'python', 'ai-sdk', 'fetch'] : ['curl', 'openai', 'python', 'ai-sdk']
}

/** Why a tool cannot send a kind of request; undefined if it can. */
export function refusalOf(tool: CodeTool, kind: PlaygroundRequest['kind']): string | undefined {
  return tool === 'ai-sdk' && kind === 'video'
    ? 'The AI SDK cannot create videos here: its provider for OpenAI-compatible APIs has no video models. Take openai or fetch.'
    : undefined
}

/** The request as code that runs as it stands, with the key in an environment variable. */
export function requestCode(tool: CodeTool, request: PlaygroundRequest): string {
  switch (tool) {
    case 'curl':
      return curl(request)
    case 'openai':
      return openai(request)
    case 'python':
      return python(request)
    case 'ai-sdk':
      return request.kind === 'image' ? aiSdkImage(request) : aiSdkChat(request)
    case 'fetch':
      return fetchVideo(request)
  }
}

function curl({ kind, origin, body }: PlaygroundRequest): string {
  const streams = body.stream === true ? ' -N' : ''
  return `curl -s${streams} ${shellQuoted(origin + PATHS[kind])} \\
  -H "Authorization: Bearer $${KEY_VARIABLE}" \\
  -H 'Content-Type: application/json' \\
  -d ${shellQuoted(JSON.stringify(body))}
`
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function openaiClient(origin: string): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${literal(`${origin}/v1`)}, apiKey: process.env.${KEY_VARIABLE} })
`
}

function openai({ kind, origin, body }: PlaygroundRequest): string {
  const client = openaiClient(origin)
  if (kind === 'video') {
    return `${client}
let job = await client.post('/video/generations', { body: ${literal(body)} })
while (job.status === 'queued' || job.status === 'processing') {
  await new Promise((resolve) => setTimeout(resolve, 2000))
  job = await client.get(\`/video/generations/\${job.id}\`)
}
console.log(job.status, job.url ?? job.error)
`
  }
  if (kind === 'image') {
    return `${client}
const images = await client.images.generate(${literal(body)})
console.log(images.data.length, 'images')
`
  }
  if (body.stream !== true) {
    return `${client}
const completion = await client.chat.completions.create(${literal(body)})
console.log(completion.choices[0].message.content)
`
  }
  return `${client}
const stream = await client.chat.completions.create(${literal(body)})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? '')
}
`
}

/** With the official `openai` package of Python. */
function python({ kind, origin, body }: PlaygroundRequest): string {
  const client = `import os
${kind === 'video' ? 'import time\n' : ''}from openai import OpenAI

client = OpenAI(base_url=${pythonLiteral(`${origin}/v1`)}, api_key=os.environ["${KEY_VARIABLE}"])
`
  if (kind === 'video') {
    return `${client}
job = client.post("/video/generations", cast_to=object, body=${pythonLiteral(body)})
while job["status"] in ("queued", "processing"):
    time.sleep(2)
    job = client.get(f"/video/generations/{job['id']}", cast_to=object)
print(job["status"], job.get("url") or job.get("error"))
`
  }
  if (kind === 'image') {
    return `${client}
images = client.images.generate(**${pythonLiteral(body)})
print(len(images.data), "images")
`
  }
  if (body.stream !== true) {
    return `${client}
completion = client.chat.completions.create(**${pythonLiteral(body)})
print(completion.choices[0].message.content)
`
  }
  return `${client}
for chunk in client.chat.completions.create(**${pythonLiteral(body)}):
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
`
}

/** Strings and numbers of JSON are those of Python. */
function pythonLiteral(value: unknown, indent = ''): string {
  const inner = `${indent}    `
  const list = (items: readonly string[], [open, close]: readonly [string, string]) =>
    items.length === 0
      ? open + close
      : `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`
  if (Array.isArray(value)) {
    return list(
      value.map((item) => pythonLiteral(item, inner)),
      ['[', ']'],
    )
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined)
    return list(
      entries.map(([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each, inner)}`),
      ['{', '}'],
    )
  }
  return typeof value === 'boolean'
    ? value
      ? 'True'
      : 'False'
    : JSON.stringify(value ?? null).replace(/^null$/, 'None')
}

function aiSdkProvider(origin: string): string {
  return `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'

const reelgate = createOpenAICompatible({
  name: 'reelgate',
  baseURL: ${literal(`${origin}/v1`)},
  apiKey: process.env.${KEY_VARIABLE},
})
`
}

function aiSdkChat({ origin, body }: PlaygroundRequest): string {
  const { model, messages, temperature, max_tokens: maxOutputTokens } = body
  const list = Array.isArray(messages) ? messages.map(readMessage) : []
  const system = list.filter(({ role }) => role === 'system').map(({ content }) => content)
  const options = {
    ...(system.length === 0 ? {} : { instructions: system.join('\n') }),
    messages: list.filter(({ role }) => role !== 'system'),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  }
  return `import { streamText } from 'ai'
${aiSdkProvider(origin)}
const { textStream } = streamText({
  model: reelgate(${literal(model)}),
${fields(options)}})
for await (const text of textStream) {
  process.stdout.write(text)
}
`
}

function readMessage(message: unknown): { readonly role: unknown; readonly content: unknown } {
  const { role, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown }
  return { role, content }
}

function aiSdkImage({ origin, body }: PlaygroundRequest): string {
  const { model, prompt, n, size } = body
  const options = { prompt, ...(n === undefined ? {} : { n }), ...(size === undefined ? {} : { size }) }
  return `import { generateImage } from 'ai'
${aiSdkProvider(origin)}
const { images } = await generateImage({
  model: reelgate.imageModel(${literal(model)}),
${fields(options)}})
console.log(images.length, 'images')
`
}

function fetchVideo({ origin, body }: PlaygroundRequest): string {
  return `const url = ${literal(origin + PATHS.video)}
const headers = { authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`, 'content-type': 'application/json' }

let job = await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(${literal(body)}) })).json()
while (job.status === 'queued' || job.status === 'processing') {
  await new Promise((resolve) => setTimeout(resolve, 2000))
  job = await (await fetch(\`\${url}/\${job.id}\`, { headers })).json()
}
console.log(job.status, job.url ?? job.error)
`
}

/** JSON is JavaScript; what it cannot say is undefined, which stays out. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'undefined'
}

function fields(options: Readonly<Record<string, unknown>>): string {
  return Object.entries(options)
    .map(([name, value]) => `  ${name}: ${literal(value).replaceAll('\n', '\n  ')},\n`)
    .join('')
}
