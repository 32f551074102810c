import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import * as stepErrors from '#core/jobs/step-errors.ts'

const { failureTextOf, ...classes } = stepErrors

describe('failureTextOf', () => {
  it.each([
    ['ReferenceRefusedError', 'a reference breaks a limit of the model'],
    ['SubmitUnknownError', 'submit outcome unknown'],
    ['NoUpstreamCapacityError', 'no upstream capacity'],
    ['GenerationTimedOutError', 'generation timed out'],
    ['TaskGoneError', 'upstream lost the task'],
    ['StoreFailedError', 'result could not be stored'],
    ['ResultNotStoredError', 'result could not be stored'],
    ['ResultNotAVideoError', 'upstream result is not a video'],
    ['JobDeletedError', 'deleted by the client'],
    ['UpstreamRejectedError', 'internal error'],
    ['UpstreamFailedError', 'internal error'],
    ['Lambda.Unknown', 'internal error'],
    ['States.Timeout', 'internal error'],
    ['TypeError', 'internal error'],
    ['constructor', 'internal error'],
    ['__proto__', 'internal error'],
    ['', 'internal error'],
    [undefined, 'internal error'],
  ])('of %s is "%s"', (name, text) => {
    expect(failureTextOf(name)).toBe(text)
  })
})

describe('every step error', () => {
  it.each(Object.entries(classes))('%s has its own name, which the state machine matches', (name, StepError) => {
    expect(new StepError('why').name).toBe(name)
  })

  it('that is worth another try is named by the state machine', () => {
    const definition = readFileSync(new URL('../../../lambdas/pipeline/video-job.asl.json', import.meta.url), 'utf8')
    expect(definition).toContain(`["${new stepErrors.StoreFailedError().name}"]`)
  })
})
