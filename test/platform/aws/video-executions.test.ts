import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { describeVideoExecution, executionName, startVideoExecution } from '#platform/aws/video-executions.ts'
import type { Pipeline } from '../../engines/pipeline.ts'
import { type Engines, startEngines } from '../../engines/start-engines.ts'
import { createVideoMachine, startExecutions, type VideoMachine } from '../../engines/video-machine.ts'

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
let pipeline: Pipeline
beforeAll(async () => {
  engines = await startEngines()
  executions = await startExecutions()
})
beforeEach(async () => {
  pipeline = await engines.pipeline()
})
afterAll(async () => {
  await Promise.all([engines.close(), executions.close()])
})

const JOB = { tenantId: 'tenant', jobId: '01234567-89ab-7def-8123-456789abcdef' }

/** A machine whose first state ends as told. */
function machineWhose(Submit: () => Promise<unknown>): VideoMachine {
  const Fail = () => Promise.reject(new Error('broken'))
  const machine = createVideoMachine(pipeline, { interpose: { Submit, Fail } })
  executions.use(machine)
  return machine
}

describe('an execution', () => {
  it('is named like its job, and each restart by its number', () => {
    expect([0, 1, 2, 3].map((restarts) => executionName('id', restarts))).toEqual(['id', 'id-1', 'id-2', 'id-3'])
    expect(executionName('id', 'cancel')).toBe('id-cancel')
  })

  it('gets the ids alone, in the one order that makes a repeated start the same execution', async () => {
    const release = Promise.withResolvers<unknown>()
    const machine = machineWhose(() => release.promise)
    await startVideoExecution(JOB)
    await startVideoExecution(JOB)
    expect(machine.engine.find(JOB.jobId)?.input).toBe(`{"tenantId":"tenant","jobId":"${JOB.jobId}"}`)
    expect(machine.visited).toEqual(['Submit'])
    release.resolve({ step: 'done' })
    await machine.engine.whenEnded(JOB.jobId)
  })

  it('that has ended is not started again, and that is no error', async () => {
    const machine = machineWhose(async () => ({ step: 'done' }))
    await startVideoExecution(JOB)
    await machine.engine.whenEnded(JOB.jobId)
    await startVideoExecution(JOB)
    expect(machine.visited).toEqual(['Submit'])
  })

  it('is missing, running, ended or broken', async () => {
    const release = Promise.withResolvers<unknown>()
    const machine = machineWhose(() => release.promise)
    expect(await describeVideoExecution(JOB.jobId, 0)).toBe('missing')
    await startVideoExecution(JOB)
    expect(await describeVideoExecution(JOB.jobId, 0)).toBe('running')
    release.resolve({ step: 'done' })
    await machine.engine.whenEnded(JOB.jobId)
    expect(await describeVideoExecution(JOB.jobId, 0)).toBe('ended')
    const broken = machineWhose(() => Promise.reject(new Error('broken')))
    await startVideoExecution(JOB, 2)
    await broken.engine.whenEnded(`${JOB.jobId}-2`)
    expect(await describeVideoExecution(JOB.jobId, 2)).toBe('broken')
  })

  it('that cannot be started or described says so', async () => {
    executions.breakDown()
    await expect(startVideoExecution(JOB)).rejects.toThrow()
    await expect(describeVideoExecution(JOB.jobId, 0)).rejects.toThrow()
  })
})
