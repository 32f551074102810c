import { describe, expect, it } from 'vitest'
import { stackName } from '../../lib/config/stack-name.ts'

describe('stack-name', () => {
  it('is the same for every release: another one would be a new stack without the data', () => {
    expect(stackName('dev')).toBe('Reelgate-dev')
  })
})
