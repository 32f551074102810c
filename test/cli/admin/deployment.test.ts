import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormationClient, DescribeStacksCommand, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation'
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import type { Table } from '#store/table/table.ts'
import { Deployment, findResource, readStackResources } from '../../../lib/cli/admin/deployment.ts'
import { OutputNotFoundError } from '../../../lib/cli/failures.ts'

const cloudFormation = mockClient(CloudFormationClient)

describe('the table that an admin command works on', () => {
  process.env.AWS_REGION = 'us-east-1'

  /** The name that requests of a table carry. */
  async function nameOf(table: Table): Promise<unknown> {
    const client = mockClient(DynamoDBDocumentClient)
    client.on(GetCommand).resolves({})
    await table.readItem({ PK: 'a', SK: 'b' })
    return client.commandCalls(GetCommand)[0]?.args[0].input.TableName
  }

  afterEach(() => {
    cloudFormation.reset()
    delete process.env.TABLE_NAME
  })

  it('is the one that the stack of the stage names', async () => {
    const Outputs = [{ OutputKey: 'TableName', OutputValue: 'generated-name' }]
    cloudFormation.on(DescribeStacksCommand, { StackName: 'Reelgate-prod' }).resolves({
      Stacks: [{ StackName: 'Reelgate-prod', CreationTime: new Date(0), StackStatus: 'CREATE_COMPLETE', Outputs }],
    })
    const deployment = new Deployment({ local: false, dataDirectory: '.data', stage: 'prod' })
    expect(await nameOf(await deployment.table())).toBe('generated-name')
  })

  it('is told as missing, with what to do, when the stage is not deployed', async () => {
    cloudFormation.on(DescribeStacksCommand).rejects(new Error('Stack with id Reelgate-dev does not exist'))
    await expect(new Deployment({ local: false, dataDirectory: '.data', stage: 'dev' }).table()).rejects.toThrow(
      /the stack Reelgate-dev cannot be read .*: deploy it, choose another --stage, or add --local/,
    )
  })

  it('is not taken for missing when AWS could not be asked at all', async () => {
    cloudFormation.on(DescribeStacksCommand).rejects(new Error('Region is missing'))
    cloudFormation.on(ListStackResourcesCommand).rejects(new Error('Region is missing'))
    const deployment = new Deployment({ local: false, dataDirectory: '.data', stage: 'dev' })
    await expect(deployment.table()).rejects.toThrow(/^no AWS region is set: export AWS_REGION/)
    await expect(deployment.resources()).rejects.toThrow(/^no AWS region is set: export AWS_REGION/)
  })

  it('is told as missing, with what to start, when no local host runs', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-admin-'))
    await expect(new Deployment({ local: true, dataDirectory, stage: 'dev' }).table()).rejects.toThrow(
      `no local host runs over ${dataDirectory}: start it with \`npm start -- --data-dir ${dataDirectory}\` and your other options`,
    )
  })

  it('comes with what is no output of the stack, by its resource, whichever page that is on', async () => {
    cloudFormation.on(DescribeStacksCommand).resolves({
      Stacks: [{ StackName: 'Reelgate-dev', CreationTime: new Date(0), StackStatus: 'CREATE_COMPLETE', Outputs: [] }],
    })
    const resource = (ResourceType: string, LogicalResourceId: string, PhysicalResourceId: string) => ({
      ...{ ResourceType, LogicalResourceId, PhysicalResourceId },
      ...{ LastUpdatedTimestamp: new Date(0), ResourceStatus: 'CREATE_COMPLETE' as const },
    })
    cloudFormation
      .on(ListStackResourcesCommand)
      .resolvesOnce({ StackResourceSummaries: [resource('AWS::S3::Bucket', 'Logs1', 'logs')], NextToken: 'more' })
      .resolves({
        StackResourceSummaries: [
          resource('AWS::S3::Bucket', 'VideoBucketBucket1', 'videos'),
          resource('AWS::StepFunctions::StateMachine', 'VideoPipelineStateMachine1', 'arn:machine'),
        ],
      })
    const deployment = new Deployment({ local: false, dataDirectory: '.data', stage: 'dev' })
    expect(await deployment.output('BucketName')).toBe('videos')
    expect(await deployment.output('StateMachineArn')).toBe('arn:machine')
    expect(cloudFormation.commandCalls(ListStackResourcesCommand)).toHaveLength(2)
    await expect(deployment.output('Nothing')).rejects.toThrow('the stack Reelgate-dev has no output Nothing')
    await expect(deployment.output('Nothing')).rejects.toBeInstanceOf(OutputNotFoundError)
  })

  it('of a running local host has its engines, and asks AWS nothing', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-admin-'))
    const host = { pid: 1, url: 'http://h', dynamoDbEndpoint: 'http://d', tableName: 'local', stateMachineArn: 'arn:m' }
    writeFileSync(join(dataDirectory, 'host.json'), JSON.stringify(host))
    const deployment = new Deployment({ local: true, dataDirectory, stage: 'dev' })
    expect(await nameOf(await deployment.table())).toBe('local')
    expect(await deployment.output('BaseUrl')).toBe('http://h')
    expect(await deployment.output('StateMachineArn')).toBe('arn:m')
    await expect(deployment.output('BucketName')).rejects.toThrow('the local host has no output BucketName')
    expect(cloudFormation.calls()).toEqual([])
  })
})

describe('readStackResources', () => {
  beforeEach(() => {
    cloudFormation.reset()
    process.env.AWS_REGION = 'eu-central-1'
  })

  const summary = (LogicalResourceId: string, PhysicalResourceId: string) => ({
    ...{ ResourceType: 'AWS::S3::Bucket', LogicalResourceId, PhysicalResourceId },
    ...{ LastUpdatedTimestamp: new Date(0), ResourceStatus: 'CREATE_COMPLETE' as const },
  })

  it('are read from every page', async () => {
    cloudFormation
      .on(ListStackResourcesCommand)
      .resolvesOnce({ StackResourceSummaries: [summary('Logs1', 'logs')], NextToken: 'more' })
      .resolves({ StackResourceSummaries: [summary('Videos1', 'videos')] })
    expect((await readStackResources('S')).map(({ id }) => id)).toEqual(['logs', 'videos'])
  })

  it('that cannot be read are an error that says what to do', async () => {
    cloudFormation.on(ListStackResourcesCommand).rejects(new Error('does not exist'))
    await expect(readStackResources('S')).rejects.toThrow(/^the resources of S cannot be read .*: deploy it/)
  })

  it('are found by type and the constructs around them', () => {
    const resources = [
      { type: 'AWS::S3::Bucket', logicalId: 'VideoBucketLogs1', id: 'logs' },
      { type: 'AWS::S3::BucketPolicy', logicalId: 'VideoBucketBucket2', id: 'policy' },
      { type: 'AWS::S3::Bucket', logicalId: 'VideoBucketBucket3', id: 'videos' },
    ]
    const match = { type: 'AWS::S3::Bucket', logicalIdPrefix: 'VideoBucketBucket' }
    expect(findResource(resources, match)?.id).toBe('videos')
    expect(findResource(resources, { ...match, logicalIdPrefix: 'Other' })).toBeUndefined()
  })
})
