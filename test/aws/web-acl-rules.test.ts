import { describe, expect, it } from 'vitest'
import { closedRule, floodRule, managedRules, viewerFloodRule } from '#stack/web-acl.ts'

const OPTIONS = { requestsPerAddressInFiveMinutes: 2000, isOpenToBrowsers: false }

describe('web-acl-rules', () => {
  it('recognise the front door by the exact value of its header, and by no value without one', () => {
    const statements = JSON.stringify([
      floodRule(OPTIONS, { accepted: ['new', 'old'] }),
      viewerFloodRule(OPTIONS, { accepted: ['new', 'old'] }),
      closedRule({ accepted: ['new', 'old'] }),
    ])
    expect(statements.match(/"positionalConstraint":"EXACTLY"/g)).toHaveLength(6)
    expect(statements.match(/"searchString":"new"/g)).toHaveLength(3)
    expect(statements.match(/"searchString":"old"/g)).toHaveLength(3)
    expect(floodRule(OPTIONS).statement).not.toHaveProperty('rateBasedStatement.scopeDownStatement')
  })

  it('block no prompt: each managed rule that inspects bodies only counts', () => {
    const overrides = managedRules().flatMap(({ statement }) =>
      'managedRuleGroupStatement' in statement ? [JSON.stringify(statement.managedRuleGroupStatement)] : [],
    )
    expect(overrides).toHaveLength(3)
    const counted = overrides.flatMap((text) => [
      ...text.matchAll(/"name":"(\w+_BODY)","actionToUse":\{"count":\{\}\}/g),
    ])
    expect(counted).toHaveLength(8)
  })
})
