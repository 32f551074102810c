import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import {
  JobRecordMissingError,
  loadVideoJobRequest,
  nowSeconds,
  openStepContext,
  requireVideoJob,
  type StepContext,
} from '#lambdas/pipeline/step-context.ts'
import { putText } from '#store/bucket/bucket.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { startEngines } from '../engines/start-engines.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { useOpened } from '../engines/use-opened.ts'
import { newJob, requireReservation } from '../engines/video-jobs.ts'

describe('the context of a step:', () => {
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
      await expect(context.openAccount(channel('main'), {})).rejects.toMatchObject({ name: 'MissingEnvironmentError' })
      process.env.STEP_KEY = 'key'
      await expect(context.openAccount(channel('main'), {})).resolves.toMatchObject({ cancel: expect.any(Function) })
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
})

describe('the record of a job:', () => {
  const engines = useOpened(startEngines)
  let pipeline: Pipeline
  beforeEach(async () => {
    engines.reset()
    pipeline = await engines.pipeline()
  })

  describe('requireVideoJob', () => {
    it('reads the job of an execution', async () => {
      const job = await pipeline.create()
      expect(await requireVideoJob(pipeline.context.table, job)).toMatchObject({ jobId: job.jobId, status: 'queued' })
    })

    it('throws JobRecordMissingError for a job that is not in the table', async () => {
      const missing = requireVideoJob(pipeline.context.table, newJob(pipeline.tenant))
      await expect(missing).rejects.toBeInstanceOf(JobRecordMissingError)
    })
  })

  describe('loadVideoJobRequest', () => {
    it('returns the validated request from the reservation or from the bucket', async () => {
      const inline = await pipeline.create()
      const text = JSON.stringify({ prompt: 'x'.repeat(20_000) })
      const request = { bucketKey: 'requests/tenant/large.json' }
      await putText(engines.bucket.bucket, request.bucketKey, text)
      const large = await pipeline.create({ request })
      expect(await loadVideoJobRequest(pipeline.context, inline)).toMatchObject({ prompt: 'a boat' })
      expect(await loadVideoJobRequest(pipeline.context, large)).toEqual(JSON.parse(text))
      expect((await requireReservation(pipeline.context.table, large)).request).toHaveProperty('bucketKey')
    })

    it('throws JobRecordMissingError for a job without a reservation', async () => {
      const missing = loadVideoJobRequest(pipeline.context, newJob(pipeline.tenant))
      await expect(missing).rejects.toBeInstanceOf(JobRecordMissingError)
    })
  })
})
