import { describe, expect, it } from '@jest/globals'
import { Match } from 'aws-cdk-lib/assertions'
import { createPrivateBucket, VideoBucket } from '#stack/buckets.ts'
import { resourcesOf, synthesizeAlone } from './synthesize-stack.ts'

function synthesizeBucket(corsOrigins: readonly string[] = []) {
  return synthesizeAlone(
    (stack) => new VideoBucket(stack, 'VideoBucket', { outlivesStack: true, isEmptiedAtEnd: false, corsOrigins }),
  )
}

const template = synthesizeBucket()
const [bucket] = resourcesOf(template, 'AWS::S3::Bucket')

describe('VideoBucket', () => {
  it('blocks every public access', () => {
    expect(bucket?.properties.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    })
  })

  it('encrypts its objects', () => {
    expect(bucket?.properties.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
    ])
  })

  it('refuses requests without TLS and with TLS below 1.2', () => {
    const denied = (Condition: object) =>
      template.hasResourceProperties('AWS::S3::BucketPolicy', {
        PolicyDocument: {
          Statement: Match.arrayWith([
            Match.objectLike({ Effect: 'Deny', Action: 's3:*', Principal: { AWS: '*' }, Condition }),
          ]),
        },
      })
    denied({ Bool: { 'aws:SecureTransport': 'false' } })
    denied({ NumericLessThan: { 's3:TlsVersion': 1.2 } })
  })

  it('deletes videos after their jobs expire, and texts after the records expire', () => {
    expect(bucket?.properties.LifecycleConfiguration.Rules).toEqual([
      { Id: 'videos', Prefix: 'v/', ExpirationInDays: 9, Status: 'Enabled' },
      { Id: 'requests', Prefix: 'requests/', ExpirationInDays: 32, Status: 'Enabled' },
      { Id: 'texts', Prefix: 'texts/', ExpirationInDays: 32, Status: 'Enabled' },
      { Id: 'abandoned-uploads', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: 'Enabled' },
    ])
  })

  it('has no rule for other origins where the configuration allows none', () => {
    expect(bucket?.properties).not.toHaveProperty('CorsConfiguration')
  })

  it('lets scripts of the allowed origins read videos, in ranges, and nothing more', () => {
    const [open] = resourcesOf(
      synthesizeBucket(['https://app.example.com', 'http://localhost:5173']),
      'AWS::S3::Bucket',
    )
    expect(open?.properties.CorsConfiguration).toEqual({
      CorsRules: [
        {
          AllowedOrigins: ['https://app.example.com', 'http://localhost:5173'],
          AllowedMethods: ['GET', 'HEAD'],
          AllowedHeaders: ['*'],
          ExposedHeaders: ['Accept-Ranges', 'Content-Length', 'Content-Range', 'ETag'],
          MaxAge: 7200,
        },
      ],
    })
  })

  it('outlives its stack', () => {
    template.hasResource('AWS::S3::Bucket', { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' })
  })

  it('allows the CDN to read only videos', () => {
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Action: 's3:GetObject',
            Principal: { Service: 'cloudfront.amazonaws.com' },
            NotResource: { 'Fn::Join': ['', [Match.anyValue(), '/v/*']] },
          }),
        ]),
      },
    })
  })
})

describe('createPrivateBucket', () => {
  const template = synthesizeAlone((stack) => createPrivateBucket(stack, { bucketName: 'videos' }))

  it('is never public, is encrypted, and keeps the settings of its caller', () => {
    const [bucket] = resourcesOf(template, 'AWS::S3::Bucket')
    expect(bucket?.properties).toMatchObject({
      BucketName: 'videos',
      PublicAccessBlockConfiguration: { BlockPublicAcls: true, BlockPublicPolicy: true, RestrictPublicBuckets: true },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
    })
  })

  it('refuses requests without TLS, and with a version before 1.2', () => {
    const [policy] = resourcesOf(template, 'AWS::S3::BucketPolicy')
    const conditions = policy?.properties.PolicyDocument.Statement.map(
      ({ Condition }: { Condition: object }) => Condition,
    )
    expect(conditions).toEqual(
      expect.arrayContaining([
        { Bool: { 'aws:SecureTransport': 'false' } },
        { NumericLessThan: { 's3:TlsVersion': 1.2 } },
      ]),
    )
  })
})
