import { describe, expect, it } from '@jest/globals'
import { createStack, stageSettings } from './synthesize-stack.ts'

const STAGES = [{ profile: 'prod' }, { profile: 'dev' }]

/** Rules that the stack does not follow somewhere, and why, as an auditor reads it. */
const acknowledged = STAGES.flatMap((context) =>
  createStack({ settings: stageSettings(context) })
    .node.findAll()
    .flatMap(({ node }) => node.metadata)
    .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
    .flatMap(({ data }) => Object.entries<string>(data)),
)

describe('acknowledge: accepted AwsSolutions findings', () => {
  it('are listed here, so that a new one is deliberate', () => {
    const rules = acknowledged.map(([id]) => id.replace(/^.*AwsSolutions-/, '').replace(/\[.*/, ''))
    expect([...new Set(rules)].sort()).toEqual([
      'APIG2',
      'APIG3',
      'APIG4',
      'CFR1',
      'CFR2',
      'CFR3',
      'CFR4',
      'COG4',
      'IAM4',
      'IAM5',
      'S1',
      'SF1',
      'SMG4',
      'SQS3',
    ])
  })

  it('have a specific reason in a full sentence', () => {
    for (const [id, reason] of acknowledged) {
      const words = reason.split(/\s+/)
      expect({ id, isSentence: /^[A-Z].*\.$/.test(reason), words: words.length >= 6 }).toEqual({
        id,
        isSentence: true,
        words: true,
      })
    }
  })

  it('include no wildcard for all resources, except X-Ray, log delivery and CloudFront public keys', () => {
    const everything = acknowledged.filter(([id]) => id.includes('Resource::*]'))
    expect(everything.length).toBeGreaterThan(0)
    for (const [, reason] of everything) {
      expect(reason).toMatch(/X-Ray|public keys/)
    }
    expect(acknowledged.filter(([id]) => id.includes('Action::'))).toEqual([])
  })
})
