import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Pipeline } from '../../engines/pipeline.ts'
import { startRecovery } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'

const before = { ...process.env }
const directory = mkdtempSync(join(tmpdir(), 'reelgate-reconcile-'))
const recovery = useOpened(startRecovery)
let pipeline: Pipeline
let handle: (event: object) => Promise<void>

/** The deployed function over the pipeline's table, which it opens once from its environment. Its clock is the real one. */
beforeAll(async () => {
  pipeline = await recovery.openPipeline()
  const file = join(directory, 'gateway.json')
  writeFileSync(file, JSON.stringify(pipeline.context.catalogue.config))
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: recovery.engines.tables.endpoint,
    TABLE_NAME: pipeline.context.table.name,
    GATEWAY_CONFIG_FILE: file,
  })
  handle = (await import('#lambdas/pipeline/reconcile/handler.ts')).handler
})
afterAll(async () => {
  process.env = before
  rmSync(directory, { recursive: true })
})

type Job = { readonly tenantId: string; readonly jobId: string }

/** Whether an event makes Reconcile start the missing execution of an older job, which is due, and of a new one. */
async function startedBy(eventOf: (newJob: Job) => object) {
  const machine = recovery.useMachine(pipeline, { interpose: { Submit: async () => ({ step: 'done' }) } })
  const now = Math.trunc(Date.now() / 1000)
  const [dueJob, newJob] = [await pipeline.create({ createdAt: now - 120 }), await pipeline.create({ createdAt: now })]
  await handle(eventOf(newJob))
  return {
    due: machine.engine.find(dueJob.jobId) !== undefined,
    new: machine.engine.find(newJob.jobId) !== undefined,
  }
}

describe('reconcile handler', () => {
  it('looks at the jobs that are due each minute', async () => {
    expect(await startedBy(() => ({ source: 'aws.scheduler' }))).toEqual({ due: true, new: false })
  })

  it('looks at every open job when the local host starts', async () => {
    const event = { detail: { all: true, startedAt: Date.now() } }
    expect(await startedBy(() => event)).toEqual({ due: true, new: true })
  })

  it('looks at one job alone when its execution has changed', async () => {
    const changed = ({ tenantId, jobId }: Job) => ({
      'detail-type': 'Step Functions Execution Status Change',
      detail: { input: JSON.stringify({ tenantId, jobId }) },
    })
    expect(await startedBy(changed)).toEqual({ due: false, new: true })
  })
})
