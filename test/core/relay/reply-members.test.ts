import { describe, expect, it } from '@jest/globals'
import { readReplyMembers } from '#core/relay/reply-members.ts'

describe('readReplyMembers', () => {
  it('finds every top-level model, and none that is nested or in a string', () => {
    const json = '{"model":"a","choices":[{"model":"x"}],"note":"\\"model\\":1","model": null }'
    const spans = readReplyMembers(json).models.map(({ start, end }) => json.slice(start, end))
    expect(spans).toEqual(['"a"', 'null'])
  })

  it('has the last value of a repeated name, byte for byte', () => {
    expect(readReplyMembers('{"usage":1,"usage":{ "total_tokens": 1.0 },"error":null}')).toEqual({
      models: [],
      usage: '{ "total_tokens": 1.0 }',
      choices: undefined,
      error: 'null',
    })
  })

  it('takes a name with escapes for the same name', () => {
    expect(readReplyMembers('{"us\\u0061ge":7}').usage).toBe('7')
  })
})
