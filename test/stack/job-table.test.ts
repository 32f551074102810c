import { describe, expect, it } from '@jest/globals'
import { JobTable } from '#stack/job-table.ts'
import { resourcesOf, stageSettings, synthesizeAlone, synthesizeStack } from './synthesize-stack.ts'

const template = synthesizeAlone((stack) => new JobTable(stack, 'JobTable', { outlivesStack: true, isProtected: true }))
const [table] = resourcesOf(template, 'AWS::DynamoDB::GlobalTable')

describe('JobTable', () => {
  it('can be restored to any second and cannot be deleted by accident', () => {
    for (const replica of table?.properties.Replicas ?? []) {
      expect(replica.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true })
      expect(replica.DeletionProtectionEnabled).toBe(true)
    }
    expect(table?.properties.Replicas).toHaveLength(1)
  })

  it('outlives its stack', () => {
    template.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    })
  })

  it('has the keys, the index and the time to live that the stores use', () => {
    expect(table?.properties.KeySchema).toEqual([
      { AttributeName: 'PK', KeyType: 'HASH' },
      { AttributeName: 'SK', KeyType: 'RANGE' },
    ])
    expect(table?.properties.GlobalSecondaryIndexes).toEqual([
      {
        IndexName: 'GSI1',
        KeySchema: [
          { AttributeName: 'GSI1PK', KeyType: 'HASH' },
          { AttributeName: 'GSI1SK', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ])
    expect(table?.properties.TimeToLiveSpecification).toEqual({ AttributeName: 'ttl', Enabled: true })
  })

  it('can be an existing table: the stack creates none and keeps its former one', () => {
    const stack = synthesizeStack({ settings: stageSettings({ table: 'reelgate-restored' }) })
    stack.resourceCountIs('AWS::DynamoDB::GlobalTable', 0)
    stack.hasOutput('TableName', { Value: 'reelgate-restored' })
    const policies = JSON.stringify(resourcesOf(stack, 'AWS::IAM::Policy'))
    expect(policies).toContain(':table/reelgate-restored')
    expect(policies).toContain(':table/reelgate-restored/index/GSI1')
    const functions = resourcesOf(stack, 'AWS::Lambda::Function')
    const names = functions.flatMap(({ properties }) => properties.Environment?.Variables?.TABLE_NAME ?? [])
    expect(new Set(names)).toEqual(new Set(['reelgate-restored']))
  })

  it('is paid per request', () => {
    expect(table?.properties.BillingMode).toBe('PAY_PER_REQUEST')
  })
})
