import { afterEach, describe, expect, it } from 'vitest'
import { environmentVariable, MissingEnvironmentError } from '#adapters/environment.ts'

const NAME = 'REELGATE_TEST_VARIABLE'
afterEach(() => {
  delete process.env[NAME]
})

describe('environment: environmentVariable', () => {
  it('is the value of the variable', () => {
    process.env[NAME] = 'set'
    expect(environmentVariable(NAME)).toBe('set')
  })

  it.each([undefined, ''])('names the variable when its value is %j', (value) => {
    Object.assign(process.env, value === undefined ? {} : { [NAME]: value })
    expect(() => environmentVariable(NAME)).toThrow(new MissingEnvironmentError(`${NAME} is not set`))
  })
})
