import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nowSeconds, openStepContext, type StepContext } from '#lambdas/pipeline/step-context.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'

const before = { ...process.env }
const directory = mkdtempSync(join(tmpdir(), 'reelgate-step-'))
let context: StepContext
beforeAll(() => {
  const file = join(directory, 'gateway.json')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference in the configuration
  writeFileSync(file, JSON.stringify(testCatalogue({}, { main: { api_key: '${STEP_KEY}' } }).config))
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    TABLE_NAME: 'table',
    BUCKET_NAME: 'videos',
    GATEWAY_CONFIG_FILE: file,
  })
  delete process.env.CHANNEL_SECRET_ARN
  delete process.env.STEP_KEY
  context = openStepContext()
})
afterAll(() => {
  process.env = before
  rmSync(directory, { recursive: true })
})

function channel(id: string) {
  const found = context.catalogue.findVideoChannel(id)
  if (found === undefined) {
    throw new Error(`no channel ${id}`)
  }
  return found
}

describe('openStepContext', () => {
  it('refuses a provider without its credential, before anything is sent', async () => {
    await expect(context.openProvider(channel('main'), {})).rejects.toMatchObject({ name: 'MissingEnvironmentError' })
    process.env.STEP_KEY = 'key'
    await expect(context.openProvider(channel('main'), {})).resolves.toMatchObject({ cancel: expect.any(Function) })
  })

  it('opens the bucket once', async () => {
    const bucket = await context.openBucket()
    expect(bucket.name).toBe('videos')
    expect(await context.openBucket()).toBe(bucket)
  })
})

describe('nowSeconds', () => {
  it('is the second that has begun, not the nearest', () => {
    expect(nowSeconds({ nowMilliseconds: () => 1_999 })).toBe(1)
  })
})
