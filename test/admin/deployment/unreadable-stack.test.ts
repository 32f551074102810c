import { describe, expect, it } from 'vitest'
import { unreadableStack } from '../../../lib/cli/failures.ts'

describe('unreadable-stack', () => {
  it('says what to do where the stack may be missing', () => {
    const error = unreadableStack('the stack S', new Error('does not exist'))
    expect(error.name).toBe('DeploymentNotFoundError')
    expect(error.message).toBe(
      'the stack S cannot be read (does not exist): deploy it, choose another --stage, or add --local',
    )
  })

  it('says nothing of the stack where AWS could not be asked', () => {
    const cause = new Error('Region is missing')
    const error = unreadableStack('the stack S', cause)
    expect(error.name).toBe('CommandFailedError')
    expect(error.message).toMatch(/^no AWS region is set/)
    expect(error.cause).toBe(cause)
  })
})
