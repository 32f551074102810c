import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { bundleHandler } from '#stack/bundle-handler.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { startTestTable } from '../engines/test-table.ts'
import { openTenant, TESTER } from '../engines/video-jobs.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import { apiEvent, context } from '../middleware/api-exchange.ts'

const root = mkdtempSync(join(tmpdir(), 'reelgate-example-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Blocks of code in CONTRIBUTING.md, by the path in their first line. */
function codeBlocks(): [path: string, code: string][] {
  const page = readFileSync(join(REPOSITORY_ROOT, 'CONTRIBUTING.md'), 'utf8')
  return [...page.matchAll(/^```ts\n\/\/ (\S+)\n([^`]*)^```$/gm)].map(([, path = '', code = '']) => [path, code])
}

/** A checkout with the files of the page. */
function addExample(): void {
  for (const name of ['package.json', 'tsconfig.json', 'lambdas', 'lib/stack']) {
    cpSync(join(REPOSITORY_ROOT, name), join(root, name), { recursive: true })
  }
  symlinkSync(join(REPOSITORY_ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const [path, code] of codeBlocks()) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), code)
  }
}

describe('the route in CONTRIBUTING.md', () => {
  it('is built, and responds to a key', async () => {
    addExample()
    const { files } = bundleHandler({ root, folder: 'api/check-key' }, join(root, 'bundles'))
    for (const { name, code } of files) {
      writeFileSync(join(root, name), code)
    }
    setTestLogging()
    const engine = await startTestTable()
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
      TABLE_NAME: engine.table.name,
    })
    const { tenantId } = await openTenant(engine.table)
    await storeApiKey(engine.table, { key: 'a-key-of-the-example', tenantId, models: null }, TESTER)
    const { handler } = await import(join(root, 'index.mjs'))
    const send = (key: string) =>
      handler(apiEvent({ httpMethod: 'GET', path: '/v1/key', headers: { authorization: `Bearer ${key}` } }), context)
    const [known, unknown] = [await send('a-key-of-the-example'), await send('another-key')]
    await engine.close()
    expect([known.statusCode, JSON.parse(known.body).status, unknown.statusCode]).toEqual([200, 'ok', 401])
  })
})
