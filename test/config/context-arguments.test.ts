import { describe, expect, it } from 'vitest'
import { readContextArguments } from '../../lib/config/context-arguments.ts'
import { StageSettingsError } from '../../lib/config/stage-settings-error.ts'
import { UsageError } from '../../lib/terminal/usage-error.ts'

describe('context-arguments', () => {
  it('reads key=value, whatever the value holds', () => {
    expect(readContextArguments(['retainData=true', 'alarmEmail=a=b', 'config='])).toEqual({
      retainData: 'true',
      alarmEmail: 'a=b',
      config: '',
    })
  })

  it.each([
    ['no value', ['retainData']],
    ['no key', ['=true']],
    ['a key given twice', ['waf=true', 'waf=false']],
  ])('refuses %s', (_, given) => {
    expect(() => readContextArguments(given)).toThrow(UsageError)
  })

  it('refuses a key that no deployment has', () => {
    expect(() => readContextArguments(['retaindata=true'])).toThrow(StageSettingsError)
  })
})
