import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { UsageError } from '../../lib/cli/terminal.ts'
import {
  type ContextValues,
  readContext,
  readContextArguments,
  readProjectContext,
  refuseUnknownContext,
  SETTINGS,
  StageSettingsError,
} from '../../lib/config/context-settings.ts'

/** The setting of a stage with data that are kept. */
function read(key: keyof ContextValues, value: unknown) {
  const given: Readonly<Record<string, unknown>> = { stage: 'test', profile: 'prod', [key]: value }
  return readContext((name) => given[name], undefined)[key]
}

describe('readContext', () => {
  it.each([
    ['retainData', 'true', true],
    ['retainData', false, false],
    ['throttleRate', '1000000', 1_000_000],
    ['logRetentionDays', '30', 30],
    ['table', 'reelgate.restored-1', 'reelgate.restored-1'],
    ['stage', 'a-1', 'a-1'],
    ['pipelineReservedConcurrency', 0, 0],
    ['waf', 'on', 'on'],
    ['waf', 'false', 'off'],
  ] as const)('reads %s=%j as %j', (key, value, expected) => {
    expect(read(key, value)).toBe(expected)
  })

  it.each([
    ['retainData', 'yes', 'must be true or false'],
    ['retainData', '1', 'must be true or false'],
    ['waf', 'yes', 'must be on or off'],
    ['throttleRate', '1e3', 'must be an integer from 1 to 1,000,000 (requests per second)'],
    ['throttleRate', '0', 'must be an integer from 1 to 1,000,000 (requests per second)'],
    ['logRetentionDays', '2', 'must be one of 1, 3, 5, 7'],
    ['relay', 'lambda', 'must be functions or web'],
    ['apiDomain', 'https://video.example.com', 'must be a host name in lower case'],
    ['apiCertificateArn', 'arn:aws:iam::1:role/x', 'must be the ARN of a certificate'],
    ['alarmEmail', 'a@b', 'must be one e-mail address'],
    ['table', 'ab', 'must be the name of a table'],
    ['stage', '1a', 'must be dev, prod or a name of up to 32'],
    ['config', '', 'must be the path of a file'],
  ] as const)('refuses %s=%j: %s', (key, value, sentence) => {
    expect(() => read(key, value)).toThrow(sentence)
  })
})

describe('refuseUnknownContext', () => {
  it.each([
    ['logLevel', 'there is no setting logLevel, see docs/deploy.md for all'],
    ['alarmMail', 'there is no setting alarmMail; did you mean alarmEmail?'],
    ['Stage', 'there is no setting Stage; did you mean stage?'],
    ['alarm-email', 'there is no setting alarm-email; did you mean alarmEmail?'],
    ['waf_rate_per_five_minutes', 'there is no setting waf_rate_per_five_minutes; did you mean wafRatePerFiveMinutes?'],
    ['colour', 'there is no setting colour, see docs/deploy.md for all'],
  ])('refuses %s, and names the one that was meant', (key, sentence) => {
    expect(() => refuseUnknownContext(['stage', key])).toThrow(sentence)
  })

  it('takes every setting of ours', () => {
    expect(() => refuseUnknownContext(Object.keys(SETTINGS))).not.toThrow()
  })

  it('leaves the keys of CDK to CDK', () => {
    const { context } = JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'cdk.json'), 'utf8'))
    const others = [
      'aws:cdk:bundling-stacks',
      'availability-zones:account=111111111111:region=eu-central-1',
      'acknowledged-issue-numbers',
      'cli-telemetry',
      'cdk-migrate',
      '@aws-cdk/core:newStyleStackSynthesis',
    ]
    expect(() => refuseUnknownContext([...Object.keys(context), ...others])).not.toThrow()
  })
})

describe('readContextArguments', () => {
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

const directory = mkdtempSync(join(tmpdir(), 'reelgate-project-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('readProjectContext', () => {
  it('takes the settings of a deployment from cdk.json, as cdk does, and none of CDK’s own', () => {
    const context = { '@aws-cdk/core:flag': true, deletionProtection: 'true', pipelineReservedConcurrency: 5 }
    writeFileSync(join(directory, 'cdk.json'), JSON.stringify({ app: 'node bin/cdk.ts', context }))
    expect(readProjectContext(directory)).toEqual({ deletionProtection: 'true', pipelineReservedConcurrency: 5 })
  })

  it('finds no setting in the cdk.json that is shipped, nor where there is none', () => {
    expect(readProjectContext(REPOSITORY_ROOT)).toEqual({})
    expect(readProjectContext(join(directory, 'nowhere'))).toEqual({})
  })
})
