import { beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { cancelVideoJob, redriveVideoJob } from '#lambdas/admin/jobs.ts'
import { putText } from '#store/bucket/bucket.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { accepted, inTurn, type Pipeline, running, succeeded } from '../engines/pipeline.ts'
import { startRecovery } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { RELEASE, REQUEST, requireReservation, TESTER } from '../engines/video-jobs.ts'
import { createVideoMachine } from '../engines/video-machine.ts'
import { faultyBucket } from './faulty-bucket.ts'
import { holdRequest } from './faulty-table.ts'

const recovery = useOpened(startRecovery)
let pipeline: Pipeline
beforeEach(async () => {
  pipeline = await recovery.openPipeline()
  pipeline.upstream.script.poll = inTurn(running(LARGE_POLL), success())
})

/** What upstreams say that leaves the record for the bucket. */
const LARGE_SUBMIT = `{"task_id":"task-1","said":"${'x'.repeat(60_000)}"}`
const LARGE_POLL = `{"task_status":"RUNNING","said":"${'x'.repeat(310_000)}"}`
const success = () =>
  succeeded({ video_url: recovery.engines.results.url('/video.mp4'), seconds: 3, said: 'x'.repeat(310_000) })
const FAILED = { kind: 'failed', text: '{}', message: 'no' } as const
const REFUSED = { kind: 'rejected', text: '{}', message: 'no' } as const
const OUTAGE = { DeleteObject: { status: 500, code: 'InternalError', times: 99 } }
const ONE_MINUTE = 60

/** A job whose request lies in the bucket, and whose upstream says much. */
async function create() {
  const jobId = uuidv7({ msecs: pipeline.clock.milliseconds })
  const bucketKey = `requests/${pipeline.tenant.tenantId}/${jobId}.json`
  const image = `data:image/png;base64,${Buffer.alloc(300_000, 7).toString('base64')}`
  await putText(recovery.engines.bucket.bucket, bucketKey, JSON.stringify({ ...REQUEST, image_urls: [image] }))
  return await pipeline.create({ jobId, request: { bucketKey } })
}

/** The pipeline while its bucket deletes nothing. */
const withOutage = () => {
  const { bucket } = faultyBucket(recovery.engines.bucket, OUTAGE)
  return { ...pipeline, context: { ...pipeline.context, openBucket: () => bucket } }
}

const requests = () => recovery.engines.bucket.keys(`requests/${pipeline.tenant.tenantId}/`)
const texts = () => recovery.engines.bucket.keys(`texts/${pipeline.tenant.tenantId}/`)

const sweepAfter = (seconds: number) => recovery.reconcileAfter(pipeline, seconds)

describe('a large request is deleted from the bucket', () => {
  it.each([
    ['succeeded', 'accepted', () => success()],
    ['failed upstream', 'accepted', () => FAILED],
    ['was refused by its upstream', 'rejected', () => FAILED],
  ] as const)('after its job %s, and not earlier', async (_, submit, end) => {
    pipeline.upstream.script.submit = () => (submit === 'accepted' ? accepted() : REFUSED)
    pipeline.upstream.script.poll = inTurn(running(), end())
    const job = await create()
    const before: string[][] = []
    const look = async (step: () => Promise<unknown>) => {
      before.push(await requests())
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Poll: look, Store: look, Settle: look, Fail: look } }).run(job)
    expect(before.every((keys) => keys.length === 1)).toBe(true)
    expect(await requests()).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('when the operator cancels its job', async () => {
    recovery.useMachine(pipeline)
    const job = await create()
    await cancelVideoJob(await pipeline.read(job), pipeline.context, TESTER)
    expect(await requests()).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('for every refused create, so that one credit cannot fill the bucket', async () => {
    pipeline = await recovery.engines.pipeline({ credits: '1' })
    pipeline.upstream.script.submit = () => REFUSED
    for (let round = 0; round < 12; round += 1) {
      const job = await create()
      await createVideoMachine(pipeline).run(job)
      await pipeline.remove(job)
    }
    expect([await requests(), await texts()]).toEqual([[], []])
    expect(await pipeline.spent()).toBe('0')
  })

  it('within minutes after the bucket refused the deletion, and the job ends normally', async () => {
    const job = await create()
    const execution = await createVideoMachine(withOutage()).run(job)
    expect(execution.status).toBe('SUCCEEDED')
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await requests()).toHaveLength(1)
    await sweepAfter(ONE_MINUTE)
    expect(await requests()).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('within minutes after a crash between the resolution of its job and the deletion', async () => {
    const { jobId } = await create()
    const { table } = pipeline.context
    const job = await pipeline.read({ ...pipeline.tenant, jobId })
    const reservation = await requireReservation(table, job)
    const nowMilliseconds = pipeline.clock.milliseconds
    await resolveReservation(table, { job, reservation, resolution: RELEASE, nowMilliseconds })
    expect(await requests()).toHaveLength(1)
    await sweepAfter(ONE_MINUTE)
    expect(await requests()).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('only after the execution that replaced a failed one has submitted it', async () => {
    let isBroken = true
    const broken = () => Promise.reject(new Error('broken'))
    const breaking = (step: () => Promise<unknown>) => (isBroken ? broken() : step())
    const machine = recovery.useMachine(pipeline, { interpose: { Submit: breaking, Fail: breaking } })
    const job = await create()
    await machine.run(job)
    await sweepAfter(0)
    expect(await requests()).toHaveLength(1)
    isBroken = false
    const { execution } = await redriveVideoJob(await pipeline.read(job), pipeline.context, TESTER)
    await machine.engine.whenEnded(execution)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await requests()).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('before a submit reads it, which then finds the job ended and sends nothing', async () => {
    const job = await create()
    const machine = recovery.useMachine(pipeline)
    const held = holdRequest(pipeline.context.table, `RESERVATION#${job.jobId}`, 0)
    const ended = machine.run(job)
    await held.arrived
    await cancelVideoJob(await pipeline.read(job), pipeline.context, TESTER)
    expect(await requests()).toEqual([])
    held.release()
    expect((await ended).status).toBe('SUCCEEDED')
    expect(pipeline.upstream.submitted).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})

describe('a deleted job leaves nothing in the bucket', () => {
  beforeEach(() => {
    pipeline.upstream.script.submit = () => accepted(LARGE_SUBMIT)
  })

  it('if deleted while it runs, and is billed from the upstream reply before its removal', async () => {
    const job = await create()
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 1) {
        await pipeline.remove(job)
      }
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(await pipeline.spent()).toBe('0.42')
    expect([await requests(), await texts(), await recovery.engines.bucket.keys(job.videoKey)]).toEqual([[], [], []])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('if deleted after its end', async () => {
    const job = await create()
    await createVideoMachine(pipeline).run(job)
    expect(await texts()).toHaveLength(2)
    await pipeline.remove(job)
    expect([await requests(), await texts(), await recovery.engines.bucket.keys(job.videoKey)]).toEqual([[], [], []])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('within minutes after the bucket refused a deletion, and its execution ends normally', async () => {
    const job = await create()
    const faulty = withOutage()
    const Settle = async (step: () => Promise<unknown>) => {
      await pipeline.remove(job)
      return await step()
    }
    expect((await createVideoMachine(faulty, { interpose: { Settle } }).run(job)).status).toBe('SUCCEEDED')
    expect([await requests(), await texts()]).toMatchObject([{ length: 1 }, { length: 2 }])
    await sweepAfter(ONE_MINUTE)
    expect([await requests(), await texts(), await recovery.engines.bucket.keys(job.videoKey)]).toEqual([[], [], []])
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})
