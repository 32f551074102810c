import { describe, expect, it } from 'vitest'
import { chunkMembers, parsedMember } from '#core/relay/chunk-members.ts'
import { writtenRules } from '#core/relay/reply-members.ts'
import { rulesOf } from './reply-rules.ts'

const rules = writtenRules(rulesOf('public'))

describe('chunkMembers', () => {
  it.each(['{"usage":{}}', ' \n{"usage":{}}', '{"\\q":1,"usage":{}}'])('reads %j', (data) => {
    expect(chunkMembers(data, rules)?.usage).toBe('{}')
  })

  it.each(['', 'hello', '[1]', '"{}"'])('is undefined for %j', (data) => {
    expect(chunkMembers(data, rules)).toBeUndefined()
  })
})

describe('parsedMember', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['null', undefined],
    [undefined, undefined],
    ['{"a":', undefined],
  ])('of %j is %j', (json, value) => {
    expect(parsedMember(json)).toStrictEqual(value)
  })
})
