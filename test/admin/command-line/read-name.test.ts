import { describe, expect, it } from '@jest/globals'
import { CommandValues } from '../../../lib/admin/command-line/command-values.ts'
import { readName, requireName } from '../../../lib/admin/command-line/read-name.ts'

const given = (name?: string) => new CommandValues(new Map(name === undefined ? [] : [['name', name]]))

describe('read-name', () => {
  it('takes a name in any script', () => {
    expect([readName(given('Acme 東京')), requireName(given('Acme'))]).toEqual(['Acme 東京', 'Acme'])
  })

  it.each(['a\u001b[2J', 'a\nb', 'a\u202eb'])('refuses %j, which a terminal would obey', (name) => {
    expect(() => readName(given(name))).toThrow('--name contains a control character')
    expect(() => requireName(given(name))).toThrow('--name contains a control character')
  })

  it('a missing name is undefined, or a usage error where it is required', () => {
    expect(readName(given())).toBeUndefined()
    expect(() => requireName(given())).toThrow('--name is missing')
  })
})
