import { describe, expect, it } from 'vitest'
import { readContext } from '../../lib/cli/emulator.ts'

describe('read-context', () => {
  it.each([
    ['retainData', '-c takes key=value, as in -c retainData=true, not retainData'],
    ['=true', '-c takes key=value'],
    ['stage=try', 'use --stage instead of -c stage'],
    ['config=own.yaml', 'use --config instead of -c config'],
    ['emulator=false', 'omit -c emulator'],
    ['retaindata=true', 'there is no context setting retaindata; did you mean retainData?'],
  ])('refuses -c %s', (given, reason) => {
    expect(() => readContext([given])).toThrow(reason)
  })

  it('accepts an equals sign in a value, and each setting once', () => {
    expect(readContext(['@aws-cdk/core:flag=a=b'])).toEqual({ '@aws-cdk/core:flag': 'a=b' })
    expect(() => readContext(['waf=on', 'waf=off'])).toThrow('-c waf is given twice')
  })
})
