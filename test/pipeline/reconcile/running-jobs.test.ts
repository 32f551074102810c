import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { dueReservations } from '#store/due-index.ts'
import type { Pipeline } from '../../engines/pipeline.ts'
import { startEngines } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { requireReservation } from '../../engines/video-jobs.ts'

/** Jobs that a run asks about one by one. */
const ASKED = 100
const MINUTE = 60

const sfn = mockClient(SFNClient)
const engines = useOpened(startEngines)
let pipeline: Pipeline
let jobs: readonly Awaited<ReturnType<Pipeline['create']>>[]
beforeAll(async () => {
  process.env.STATE_MACHINE_ARN = 'arn:aws:states:local:000000000000:stateMachine:video-job'
})
beforeEach(async () => {
  sfn.reset()
  sfn.on(StartExecutionCommand).resolves({})
  sfn.on(DescribeExecutionCommand).resolves({ status: 'RUNNING' })
  pipeline = await engines.pipeline()
  jobs = await Promise.all(Array.from({ length: ASKED + 10 }, () => pipeline.create()))
})

const runAfter = async (seconds: number, options = { all: false }) => {
  pipeline.clock.advance(seconds)
  await reconcile(pipeline.context, options)
}

/** Executions of these names, in pages of fifty. */
function listed(names: readonly string[]): void {
  sfn.on(ListExecutionsCommand).callsFake(({ nextToken = '0' }: { nextToken?: string }) => {
    const from = Number(nextToken)
    const executions = names.slice(from, from + 50).map((name) => ({ name }))
    return { executions, ...(from + 50 < names.length ? { nextToken: String(from + 50) } : {}) }
  })
}

const asked = () => sfn.commandCalls(DescribeExecutionCommand).length
const started = () => sfn.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input.name)

describe('reconcile of many jobs', () => {
  it('lists all running executions once, page by page, and asks about no job that is among them', async () => {
    listed(jobs.map(({ jobId }, index) => (index % 2 === 0 ? jobId : `${jobId}-2`)))
    await runAfter(MINUTE)
    expect(asked()).toBe(ASKED)
    expect(sfn.commandCalls(ListExecutionsCommand)).toHaveLength(3)
    expect(started()).toEqual([])
  })

  it('writes nothing for a listed job of less than five minutes, and postpones an older one by its age', async () => {
    listed(jobs.map(({ jobId }) => jobId))
    const due = async (seconds: number) => {
      const { table, nowMilliseconds } = pipeline.context
      const ids = new Set<string>()
      for await (const each of dueReservations(table, nowMilliseconds() + seconds * 1000)) {
        ids.add('jobId' in each ? each.jobId : '')
      }
      return jobs.filter(({ jobId }) => ids.has(jobId)).length
    }
    await runAfter(5 * MINUTE - 1)
    expect(await due(0)).toBe(jobs.length - ASKED)
    // Those that were asked about are not due yet, and so the others are asked about in the next run.
    expect(await due(5 * MINUTE - 2)).toBe(jobs.length - ASKED)
    pipeline = await engines.pipeline()
    jobs = await Promise.all(Array.from({ length: ASKED + 10 }, () => pipeline.create()))
    listed(jobs.map(({ jobId }) => jobId))
    await runAfter(5 * MINUTE)
    expect([await due(5 * MINUTE - 1), await due(5 * MINUTE + 1)]).toEqual([0, jobs.length])
  })

  it('asks about a job that is not listed, and starts its missing execution: the list lags', async () => {
    listed([])
    sfn.on(DescribeExecutionCommand).rejects(new ExecutionDoesNotExist({ message: '', $metadata: {} }))
    await runAfter(MINUTE)
    expect(asked()).toBe(jobs.length)
    expect(new Set(started())).toEqual(new Set(jobs.map(({ jobId }) => jobId)))
  })

  it('takes the execution of a cancellation for no sign of life', async () => {
    listed(jobs.map(({ jobId }) => `${jobId}-cancel`))
    await runAfter(MINUTE)
    expect(asked()).toBe(jobs.length)
  })

  it.each(['is refused', 'breaks off'])('asks about each job when the list %s', async (how) => {
    if (how === 'is refused') {
      sfn.on(ListExecutionsCommand).rejects(new Error('throttled'))
    } else {
      listed(jobs.map(({ jobId }) => jobId))
      sfn.on(ListExecutionsCommand, { nextToken: '50' }).rejects(new Error('throttled'))
    }
    await runAfter(MINUTE)
    expect(asked()).toBe(jobs.length)
  })

  it('ends an overdue job, although its execution is listed', async () => {
    listed(jobs.map(({ jobId }) => jobId))
    await runAfter(14 * 60 * MINUTE + MINUTE)
    const { table } = pipeline.context
    const states = await Promise.all(jobs.map(async (job) => (await requireReservation(table, job)).state))
    expect(new Set(states)).toEqual(new Set(['released']))
  })

  it('leaves restarts and money of a listed job as they are', async () => {
    listed(jobs.map(({ jobId }) => jobId))
    const { table } = pipeline.context
    const before = await Promise.all(jobs.map((job) => requireReservation(table, job)))
    await runAfter(MINUTE)
    expect(await Promise.all(jobs.map((job) => requireReservation(table, job)))).toEqual(before)
  })

  it('asks about each job at a start of the local host, whose executions ended with the last one', async () => {
    listed(jobs.map(({ jobId }) => jobId))
    await runAfter(0, { all: true })
    expect(asked()).toBe(jobs.length)
    expect(sfn.commandCalls(ListExecutionsCommand)).toHaveLength(0)
  })
})
