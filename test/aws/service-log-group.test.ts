import { describe, expect, it } from 'vitest'
import { ServiceLogGroup } from '#stack/logs.ts'
import { synthesizeAlone } from './synthesize-stack.ts'

function logGroupOf(name?: string) {
  const template = synthesizeAlone((stack) => new ServiceLogGroup(stack, 'Logs', name))
  return Object.values(template.findResources('AWS::Logs::LogGroup'))[0]
}

describe('service-log-group', () => {
  it('keeps its events for a month and is deleted with the stack', () => {
    expect(logGroupOf()).toMatchObject({ DeletionPolicy: 'Delete', Properties: { RetentionInDays: 30 } })
  })

  it('has a name only if the writing service requires one', () => {
    expect(logGroupOf()?.Properties).not.toHaveProperty('LogGroupName')
    expect(logGroupOf('/aws/vendedlogs/x')?.Properties).toHaveProperty('LogGroupName', '/aws/vendedlogs/x')
  })
})
