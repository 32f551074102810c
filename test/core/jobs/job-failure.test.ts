import { describe, expect, it } from 'vitest'
import { failureTextOf } from '#core/jobs/job-failure.ts'

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
