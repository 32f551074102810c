import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { contextSchema } from '../../lib/config/context-schema.ts'
import { refuseUnknownContext } from '../../lib/config/unknown-context.ts'

describe('a context key', () => {
  it.each([
    ['alarmMail', 'there is no context setting alarmMail; did you mean alarmEmail?'],
    ['Stage', 'there is no context setting Stage; did you mean stage?'],
    ['alarm-email', 'there is no context setting alarm-email; did you mean alarmEmail?'],
    [
      'waf_rate_per_five_minutes',
      'there is no context setting waf_rate_per_five_minutes; did you mean wafRatePerFiveMinutes?',
    ],
    ['colour', 'there is no context setting colour, see docs/deploy.md for all'],
  ])('%s is refused, with the one that was meant', (key, sentence) => {
    expect(() => refuseUnknownContext(['stage', key])).toThrow(sentence)
  })

  it('of ours is taken', () => {
    expect(() => refuseUnknownContext(Object.keys(contextSchema.shape))).not.toThrow()
  })

  it('of CDK’s own is left to CDK', () => {
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
