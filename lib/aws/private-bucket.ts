import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type IBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'

const MINIMUM_TLS_VERSION = 1.2

/** A bucket `Bucket` below the construct that is never public, is encrypted, and is reached over TLS only. */
export function createPrivateBucket(scope: Construct, props: BucketProps): IBucket {
  // Bucket types `isWebsite` as possibly undefined, IBucket as optional, which exactOptionalPropertyTypes separates.
  const bucket: Omit<Bucket, 'isWebsite'> = new Bucket(scope, 'Bucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: MINIMUM_TLS_VERSION,
    ...props,
  })
  return bucket
}
