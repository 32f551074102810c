import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { Grant } from 'aws-cdk-lib/aws-iam'
import type { SigningKeyResources } from './cdn-signing-key.ts'
import type { GatewayFunction } from './gateway-function.ts'
import type { VideoBucket } from './video-bucket.ts'
import type { VideoCdn } from './video-cdn.ts'

/** The delivery of stored videos, and the permissions of functions that sign urls. */
export type VideoDelivery = {
  /** The common base of video urls, if there is one. */
  readonly baseUrl: string | undefined
  /** The DNS record that a custom domain needs. */
  readonly dnsRecord: string | undefined
  /** The CDN, which can be the front door too; undefined without one. */
  readonly distribution: Distribution | undefined
  /** Undefined if urls are signed with AWS credentials. */
  readonly signingKeys: SigningKeyResources | undefined
  /** Allows a function to sign video urls. */
  allowSigning(signer: GatewayFunction): void
}

/** Signed urls of the CDN, with keys from a secret. */
export function cdnDelivery(cdn: VideoCdn, signingKeys: SigningKeyResources): VideoDelivery {
  return {
    baseUrl: cdn.baseUrl,
    dnsRecord: cdn.dnsRecord,
    distribution: cdn.distribution,
    signingKeys,
    allowSigning(signer) {
      const { secretArn } = signingKeys.secret
      Grant.addToPrincipal({ grantee: signer, actions: ['secretsmanager:GetSecretValue'], resourceArns: [secretArn] })
      signer.setEnvironment({ CDN_BASE_URL: cdn.baseUrl, CDN_SIGNING_KEY_SECRET_ARN: secretArn })
    },
  }
}

/** Presigned urls of the bucket, without a CDN. The signer needs the permission that the url grants. */
export function bucketDelivery(bucket: VideoBucket): VideoDelivery {
  return {
    baseUrl: undefined,
    dnsRecord: undefined,
    distribution: undefined,
    signingKeys: undefined,
    allowSigning(signer) {
      bucket.grantObjects(signer, ['GetObject'], 'v/')
      signer.setEnvironment({ VIDEO_DELIVERY: 'bucket', BUCKET_NAME: bucket.bucket.bucketName })
    },
  }
}
