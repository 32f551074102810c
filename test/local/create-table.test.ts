import { CreateTableCommand, DynamoDBClient, ResourceInUseException } from '@aws-sdk/client-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { createTable } from '#local/dynamodb-engine.ts'
import { JobTable } from '#stack/job-table.ts'
import { resourcesOf, synthesizeAlone } from '../stack/synthesize-stack.ts'

const table = mockClient(DynamoDBClient)
beforeEach(() => {
  table.reset()
  process.env.AWS_REGION = 'us-east-1'
})

describe('createTable', () => {
  it('makes the table with the keys, the index and the attributes of the deployed one', async () => {
    const template = synthesizeAlone((stack) => new JobTable(stack, 'T', { outlivesStack: false, isProtected: false }))
    const [deployed] = resourcesOf(template, 'AWS::DynamoDB::GlobalTable')
    const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = deployed?.properties ?? {}
    await createTable('local')
    expect(table.commandCalls(CreateTableCommand)[0]?.args[0].input).toMatchObject({
      TableName: 'local',
      KeySchema,
      AttributeDefinitions,
      GlobalSecondaryIndexes,
    })
  })

  it('leaves an existing table as it is', async () => {
    table.on(CreateTableCommand).rejects(new ResourceInUseException({ message: 'exists', $metadata: {} }))
    await expect(createTable('local')).resolves.toBeUndefined()
  })

  it('throws every other error', async () => {
    table.on(CreateTableCommand).rejects(new Error('no engine'))
    await expect(createTable('local')).rejects.toThrow('no engine')
  })
})
