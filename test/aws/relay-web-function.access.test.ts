import { describe, expect, it } from 'vitest'
import { usageOf } from './handler-usage.ts'
import { relayResource, relayStatements, synthesizeRelay } from './relay-template.ts'

const template = synthesizeRelay()
const bucket = relayResource(template, 'AWS::S3::Bucket')
const logs = ['Log1', 'LocalLog'].map((part) => relayResource(template, 'AWS::Logs::LogGroup', part))
const archive = relayResource(template, 'Custom::RelayCode')

describe('RelayWebFunction: permissions', () => {
  it('are those of the code on the table, by partition', () => {
    const usage = usageOf('relay-server', 'main.ts')
    const onTable = relayStatements(template, 'RoleDefault').filter(({ Condition }) => Condition !== undefined)
    const actions = onTable.flatMap(({ Action }) => [Action].flat())
    const partitions = onTable.flatMap(
      ({ Condition }) => Object(Condition)['ForAllValues:StringLike']['dynamodb:LeadingKeys'],
    )
    expect([...new Set(actions)].sort()).toEqual(usage.table.map((action) => `dynamodb:${action}`))
    expect([...new Set(partitions)].sort()).toEqual(usage.partitions)
  })

  it('are two secrets and two log groups besides', () => {
    const others = relayStatements(template, 'RoleDefault').filter(({ Condition }) => Condition === undefined)
    expect(others).toEqual([
      {
        Effect: 'Allow',
        Action: 'secretsmanager:GetSecretValue',
        Resource: [
          { Ref: expect.stringMatching(/^ChannelSecret/) },
          { Ref: expect.stringMatching(/^FrontDoorSecret/) },
        ],
      },
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: logs.map(({ id }) => ({ 'Fn::GetAtt': [id, 'Arn'] })).toReversed(),
      },
    ])
  })

  it('let Lambda alone assume the role', () => {
    const { Statement } = relayResource(template, 'AWS::IAM::Role', 'RoleD').properties.AssumeRolePolicyDocument
    expect(Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
    ])
  })
})

describe('RelayCode', () => {
  it('is in a private bucket that keeps versions and lets nothing expire', () => {
    expect(bucket.properties).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      PublicAccessBlockConfiguration: { BlockPublicPolicy: true, RestrictPublicBuckets: true },
    })
    expect(bucket.properties).not.toHaveProperty('LifecycleConfiguration')
    const encryption = bucket.properties.BucketEncryption.ServerSideEncryptionConfiguration[0]
    expect(encryption.ServerSideEncryptionByDefault.SSEAlgorithm).toBe('AES256')
  })

  it('is read by revisions of this function alone', () => {
    const { Statement } = relayResource(template, 'AWS::S3::BucketPolicy').properties.PolicyDocument
    const allowing = Statement.filter(({ Effect }: { Effect: string }) => Effect === 'Allow')
    const [account, region] = [{ Ref: 'AWS::AccountId' }, { Ref: 'AWS::Region' }]
    const arn = ['arn:', { Ref: 'AWS::Partition' }, ':lambda:', region, ':', account, ':web-function/']
    const revisions = [...arn, { Ref: 'AWS::StackName' }, '-relay-', region, '/revision/*']
    expect(allowing).toEqual([
      {
        Sid: 'RevisionsReadTheirCode',
        Effect: 'Allow',
        Principal: { Service: 'lambda.amazonaws.com' },
        Action: ['s3:GetObject', 's3:GetObjectVersion'],
        Resource: { 'Fn::Join': ['', [{ 'Fn::GetAtt': [bucket.id, 'Arn'] }, '/*']] },
        Condition: {
          StringEquals: { 'aws:SourceAccount': account },
          ArnLike: { 'aws:SourceArn': { 'Fn::Join': ['', revisions] } },
        },
      },
    ])
  })

  it('is written by a function that may write and never delete an object by its name', () => {
    const actions = relayStatements(template, 'CodeWriter').flatMap(({ Action }) => [Action].flat())
    expect(actions.filter((action) => String(action).startsWith('s3:'))).toEqual([
      's3:ListBucket',
      's3:ListBucketVersions',
      's3:DeleteObjectVersion',
      's3:GetObject',
      's3:PutObject',
    ])
  })

  it('outlives the function, whose environments read it at every start', () => {
    expect(relayResource(template, 'AWS::Lambda::WebFunction').DependsOn).toEqual(
      expect.arrayContaining([archive.id, bucket.id]),
    )
  })
})
