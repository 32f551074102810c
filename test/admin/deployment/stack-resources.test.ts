import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, it } from 'vitest'
import { findResource, readStackResources } from '../../../lib/cli/admin/deployment.ts'

const cloudFormation = mockClient(CloudFormationClient)
beforeEach(() => {
  cloudFormation.reset()
  process.env.AWS_REGION = 'eu-central-1'
})

const summary = (LogicalResourceId: string, PhysicalResourceId: string) => ({
  ...{ ResourceType: 'AWS::S3::Bucket', LogicalResourceId, PhysicalResourceId },
  ...{ LastUpdatedTimestamp: new Date(0), ResourceStatus: 'CREATE_COMPLETE' as const },
})

describe('stack-resources', () => {
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
