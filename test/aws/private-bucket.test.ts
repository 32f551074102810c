import { describe, expect, it } from 'vitest'
import { createPrivateBucket } from '#stack/buckets.ts'
import { resourcesOf, synthesizeAlone } from './synthesize-stack.ts'

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
