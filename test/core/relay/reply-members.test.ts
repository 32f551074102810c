import { describe, expect, it } from 'vitest'
import { applyTextEdits } from '#core/json/text-edit.ts'
import { microcredits } from '#core/money.ts'
import { readReplyMembers, replyEdits, writtenRules } from '#core/relay/reply-members.ts'
import { rulesOf } from './reply-rules.ts'

const rules = writtenRules(rulesOf('public'))

/** What becomes of a reply. */
function relayed(json: string, cost?: number): string {
  const shown = cost === undefined ? undefined : microcredits(cost)
  return applyTextEdits(json, replyEdits(readReplyMembers(json, rules), shown))
}

describe('readReplyMembers', () => {
  it('replaces every top-level model, and none that is nested or in a string', () => {
    const json = '{"model":"a","choices":[{"model":"x"}],"note":"\\"model\\":1","model": null }'
    expect(relayed(json)).toBe('{"model":"public","choices":[{"model":"x"}],"note":"\\"model\\":1","model": "public" }')
  })

  it('has the last value of a repeated name, byte for byte', () => {
    expect(readReplyMembers('{"usage":1,"usage":{ "total_tokens": 1.0 },"error":null}')).toEqual({
      edits: [],
      usages: [],
      usage: '{ "total_tokens": 1.0 }',
      choices: undefined,
      error: 'null',
    })
  })

  it('takes a name with escapes for the same name', () => {
    expect(readReplyMembers('{"us\\u0061ge":7}').usage).toBe('7')
    expect(relayed('{"us\\u0061ge":{"c\\u006fst":9,"a":1},"pr\\u006fvider":"x"}')).toBe('{"us\\u0061ge":{"a":1}}')
  })

  it('removes what is hidden, wherever a name is repeated', () => {
    const json =
      '{"provider":"a", "id":1,"usage":{"cost":1},"usage":{"a":{"cost":2},"cost":3,"is_byok":true} ,"provider":{}}'
    expect(relayed(json)).toBe('{ "id":1,"usage":{},"usage":{"a":{}}}')
  })

  it('leaves nested fields of configured names', () => {
    const json = '{"choices":[{"provider":"a","usage":{"is_byok":1}}],"x":{"provider":1,"usage":{"is_byok":1}}}'
    expect(relayed(json)).toBe(json)
  })
})

describe('replyEdits', () => {
  it.each([
    ['{"usage":{"total_tokens":3}}', '{"usage":{"total_tokens":3,"cost":0.005195}}'],
    ['{"usage":{ "total_tokens" : 3 }}', '{"usage":{ "total_tokens" : 3,"cost":0.005195 }}'],
    ['{"usage":{}}', '{"usage":{"cost":0.005195}}'],
    ['{"usage":{ }}', '{"usage":{"cost":0.005195 }}'],
    ['{"usage":{"cost":9}}', '{"usage":{"cost":0.005195}}'],
    ['{"usage":{"cost":9,"a":1}}', '{"usage":{"a":1,"cost":0.005195}}'],
    ['{"usage":{"a":1,"cost":9 , "cost_details":{"x":1}}}', '{"usage":{"a":1,"cost":0.005195}}'],
    ['{"usage":{"a":1},"usage":{"b":2}}', '{"usage":{"a":1,"cost":0.005195},"usage":{"b":2,"cost":0.005195}}'],
    ['{"usage":null}', '{"usage":null}'],
    ['{"usage":[{"a":1}]}', '{"usage":[{"a":1}]}'],
    ['{"a":1}', '{"a":1}'],
  ])('writes the cost into each usage that is an object: %s', (json, expected) => {
    expect(relayed(json, 5_195)).toBe(expected)
  })

  it.each([
    [1, '0.000001'],
    [21, '0.000021'],
    [1_000_000, '1'],
    [123_456_789_012_345, '123456789.012345'],
    [0, '0'],
  ])('writes %d millionths of a credit as %s', (amount, cost) => {
    expect(relayed('{"usage":{}}', amount)).toBe(`{"usage":{"cost":${cost}}}`)
  })
})
