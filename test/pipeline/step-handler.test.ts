import { describe, expect, it } from 'vitest'
import type { JobFailure } from '#core/jobs/job-failure.ts'
import type { NextStep } from '#core/jobs/next-step.ts'
import type { StepContext } from '#lambdas/pipeline/step-context.ts'
import { runStep } from '#lambdas/pipeline/step-handler.ts'
import { readVideoMachine } from '../engines/run-video-machine.ts'

const JOB = { tenantId: 'tenant', jobId: 'job' }
const context: StepContext = Object.create(null)
const run = (next: NextStep, definition?: number) =>
  runStep(async () => next, definition === undefined ? JOB : { ...JOB, definition }, context)

const FAILURES: readonly JobFailure[] = [
  'UpstreamRejectedError',
  'ReferenceRefusedError',
  'UpstreamFailedError',
  'SubmitUnknownError',
  'NoUpstreamCapacityError',
  'GenerationTimedOutError',
  'TaskGoneError',
  'ResultNotStoredError',
  'ResultNotAVideoError',
  'JobDeletedError',
]

describe('runStep', () => {
  it.each([undefined, 1, 2])('throws the failure of a job under definition %s, by its name', async (definition) => {
    await expect(run({ step: 'fail', error: 'TaskGoneError' }, definition)).rejects.toMatchObject({
      name: 'TaskGoneError',
    })
  })

  it('returns the failure of a job under definition 3', async () => {
    const failed = { step: 'fail', error: 'TaskGoneError' } as const
    expect(await run(failed, 3)).toEqual(failed)
  })

  it.each([undefined, 2, 3])('returns every other result under definition %s', async (definition) => {
    for (const next of [{ step: 'poll', waitSeconds: 3 }, { step: 'store' }, { step: 'done' }] as const) {
      expect(await run(next, definition)).toEqual(next)
    }
  })

  it('passes on what the step throws', async () => {
    const broken = async () => await Promise.reject(new TypeError('broken'))
    await expect(runStep(broken, { ...JOB, definition: 3 }, context)).rejects.toThrow(TypeError)
  })

  it.each(['video-job-v1', 'video-job-v2'])('throws no failure that %s would try again', (definition) => {
    const { States } = readVideoMachine(definition)
    for (const name of ['Submit', 'Poll', 'Store']) {
      expect(States[name]?.Retry?.[0]).toMatchObject({ MaxAttempts: 0 })
      const final = States[name]?.Retry?.[0]?.ErrorEquals ?? []
      const known =
        definition === 'video-job-v1' ? FAILURES.filter((each) => each !== 'ReferenceRefusedError') : FAILURES
      expect(final).toEqual(expect.arrayContaining([...known]))
    }
  })
})
