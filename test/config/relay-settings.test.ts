import { describe, expect, it } from 'vitest'
import { contextSchema } from '../../lib/config/context-schema.ts'
import { refuseRelayCombinations, relaySettings } from '../../lib/config/relay-settings.ts'

const ACL = 'arn:aws:wafv2:us-east-1:111111111111:global/webacl/viewers/0198b3a0-0000-7000-8000-000000000001'
const values = (given: object) => contextSchema.parse({ profile: 'dev', ...given })

describe('relaySettings', () => {
  it.each([{}, { relay: 'functions' }])('leave every relayed request to the functions with %j', (given) => {
    expect(relaySettings(values(given))).toBeUndefined()
  })

  it('send every request to the new revision, which anybody may call who knows the secret', () => {
    expect(relaySettings(values({ relay: 'web' }))).toEqual({
      hasOriginAccessControl: false,
      weights: [{ revision: 'new', percent: 100 }],
    })
  })

  it.each([
    [
      '10',
      [
        ['new', 10],
        [{ id: 'r-1' }, 90],
      ],
    ],
    ['100', [['new', 100]]],
    ['0', [[{ id: 'r-1' }, 100]]],
  ] as const)('share requests with the previous revision at relayWeight=%s', (relayWeight, weights) => {
    const found = relaySettings(values({ relay: 'web', relayWeight, relayPreviousRevision: 'r-1' }))
    expect(found?.weights).toEqual(weights.map(([revision, percent]) => ({ revision, percent })))
  })
})

describe('refuseRelayCombinations', () => {
  it.each([
    [{ relayWeight: '10' }, 'relayWeight needs relay=web'],
    [{ relayOriginAccessControl: 'true' }, 'relayOriginAccessControl needs relay=web'],
    [{ relay: 'functions', relayPreviousRevision: 'r-1' }, 'relayPreviousRevision needs relay=web'],
    [{ relay: 'web', console: 'off' }, 'relay=web needs console=on'],
    [{ relay: 'web', waf: 'on' }, 'relay=web needs frontDoorWebAclArn'],
    [{ relay: 'web', relayWeight: '10' }, 'relayWeight and relayPreviousRevision need each other'],
    [{ relay: 'web', relayPreviousRevision: 'r-1' }, 'relayWeight and relayPreviousRevision need each other'],
  ])('refuses %j', (given, reason) => {
    expect(() => refuseRelayCombinations(values(given))).toThrow(reason)
  })

  it.each([
    {},
    { relay: 'functions', console: 'off' },
    { relay: 'web' },
    { relay: 'web', profile: 'prod' },
    { relay: 'web', profile: 'prod', frontDoorWebAclArn: ACL, relayOriginAccessControl: 'true' },
    { relay: 'web', relayWeight: '10', relayPreviousRevision: 'r-1' },
  ])('accepts %j', (given) => {
    expect(() => refuseRelayCombinations(values(given))).not.toThrow()
  })
})
