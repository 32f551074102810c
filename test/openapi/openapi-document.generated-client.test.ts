import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'

/** A package of its own, because the generator wants TypeScript 5: `npm ci` installs it with everything else. */
const GENERATOR = join(REPOSITORY_ROOT, 'test/client-generator/node_modules/openapi-typescript/bin/cli.js')
const COMPILER = join(REPOSITORY_ROOT, 'node_modules/typescript/bin/tsc')

const CONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: [],
  },
}

/** What a client writes, with the types that were generated of the document. */
const CLIENT = `import type { components, operations } from './gateway.d.ts'

type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody: { content: { 'application/json': infer Json } }
} ? Json : never

type Answer<Name extends keyof operations, Status extends number> = operations[Name] extends {
  responses: Record<Status, { content: { 'application/json': infer Json } }>
} ? Json : never

// The least that the gateway takes: what has a default may be left out.
export const video: Body<'createVideoJob'> = { model: 'famB-1.1-t2v', prompt: 'a cat' }
export const chat: Body<'createChatCompletion'> = {
  model: 'chat-default',
  messages: [{ role: 'user', content: 'hi' }],
}
export const completion: Body<'createCompletion'> = { model: 'chat-default', prompt: 'hi' }
export const embedding: Body<'createEmbedding'> = { model: 'text-embedding-3-small', input: 'hi' }
export const image: Body<'createImage'> = { model: 'image-v3', prompt: 'a cat' }

// All of it may be said too.
export const whole: Body<'createVideoJob'> = { ...video, duration: 5, aspect_ratio: '9:16', watermark: false, image_urls: [] }

// What has no default is demanded still.
// @ts-expect-error prompt is missing
export const short: Body<'createVideoJob'> = { model: 'famB-1.1-t2v' }
// @ts-expect-error messages is missing
export const empty: Body<'createChatCompletion'> = { model: 'chat-default' }
// @ts-expect-error no such shape
export const odd: Body<'createVideoJob'> = { ...video, aspect_ratio: '2:1' }

// An answer always has what the gateway always sends, and a url only of a job that succeeded.
export function urlOf(job: Answer<'getVideoJob', 200>): string | undefined {
  const { id, status, expires_at }: { id: string; status: string; expires_at: number } = job
  return status === 'succeeded' && id !== '' && expires_at > 0 ? job.url : undefined
}
export const made = (job: Answer<'createVideoJob', 201>): 'queued' => job.status
export const first = (list: components['schemas']['VideoJobList']): string | undefined => list.data[0]?.id
export const said = (answer: Answer<'createChatCompletion', 200>) => answer.choices[0]?.message?.content
`

let directory: string
beforeAll(() => {
  if (!existsSync(GENERATOR)) {
    throw new Error('the generator of clients is not installed: run npm ci')
  }
  directory = mkdtempSync(join(tmpdir(), 'reelgate-client-'))
  copyFileSync(join(REPOSITORY_ROOT, 'openapi.json'), join(directory, 'openapi.json'))
  execFileSync(process.execPath, [GENERATOR, 'openapi.json', '-o', 'gateway.d.ts'], { cwd: directory, stdio: 'pipe' })
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(CONFIG))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function compile(client: string): string {
  writeFileSync(join(directory, 'client.ts'), client)
  return spawnSync(process.execPath, [COMPILER, '-p', '.'], { cwd: directory, encoding: 'utf8' }).stdout
}

describe('openapi-document: a client that openapi-typescript generates from openapi.json', () => {
  it('compiles with requests that omit fields with defaults, and with fields that responses always have', () => {
    expect(compile(CLIENT)).toBe('')
  })

  it('is checked at all: a wrong client does not compile', () => {
    expect(compile(`${CLIENT}\nexport const wrong: Body<'createImage'> = { model: 1, prompt: 'a cat' }\n`)).toContain(
      "Type 'number' is not assignable to type 'string'",
    )
  })
})
