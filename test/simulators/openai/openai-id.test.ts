import { describe, expect, it } from 'vitest'
import { newId } from '../../../lib/simulators/openai/openai-id.ts'

describe('openai-id', () => {
  it('is its prefix and 32 hexadecimal digits, new each time', () => {
    expect(newId('chatcmpl-')).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
    expect(newId('req_')).not.toBe(newId('req_'))
  })
})
