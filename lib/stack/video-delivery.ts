import { createHash } from 'node:crypto'
import { Aws, CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  type DistributionProps,
  type IKeyGroup,
  KeyGroup,
  OriginRequestPolicy,
  PublicKey,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { Grant } from 'aws-cdk-lib/aws-iam'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import type { CustomDomain } from '../config/stage-settings.ts'
import { acknowledge } from './acknowledge.ts'
import type { VideoBucket } from './buckets.ts'
import type { FunctionSources } from './function-sources.ts'
import { GatewayFunction } from './gateway-function.ts'
import { grantSecret } from './secrets.ts'

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
      grantSecret(signer, secretArn)
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

/** Names of CloudFront are unique in an account across all regions, and have at most 64 characters. */
export function accountWide(name: string): string {
  return `${Aws.STACK_NAME}-${name}-${Aws.REGION}`
}

const TRANSPORT_SECURITY_DAYS = 365

/**
 * No caching, so that a deleted video is not served again. A cached copy would need an invalidation, which costs 12,500 times
 * the saving of a fetch (docs/decisions/0149).
 */
const NOTHING_KEPT = CachePolicy.CACHING_DISABLED

/**
 * The bucket decides about origins: it gets what a browser says of them, and the preflights. A preflight has the url of its
 * request, with the signature. What CloudFront refuses by itself, such as an expired url, has no such headers.
 */
const FOR_BROWSERS = {
  allowedMethods: AllowedMethods.ALLOW_GET_HEAD_OPTIONS,
  originRequestPolicy: OriginRequestPolicy.CORS_S3_ORIGIN,
}

/**
 * CloudFront keeps an error for ten seconds by default (CloudFront Developer Guide, "Control how long CloudFront caches errors"), and the guide
 * does not say that a cache policy without caching changes that. An error that is kept under a key without `Authorization` would be the
 * response to another client, whose job it is. These are all statuses whose time can be set. The responses themselves pass unchanged.
 */
const ERRORS_NOT_KEPT = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((httpStatus) => ({
  httpStatus,
  ttl: Duration.seconds(0),
}))

type VideoCdnProps = {
  readonly bucket: IBucket
  /** Verifies the signatures of urls. */
  readonly keyGroup: IKeyGroup
  /** Without a custom domain, viewers use the distribution's own name and CloudFront's TLS policy for it. */
  readonly customDomain: CustomDomain | undefined
  /** Scripts of other origins may read videos, by the rules of the bucket. */
  readonly isOpenToBrowsers: boolean
  /** Whether the distribution serves the console and the API too. */
  readonly isFrontDoor: boolean
}

/** CloudFront in front of the private bucket. Every read needs a signed url and https. */
export class VideoCdn extends Construct {
  readonly baseUrl: string
  /** The front door adds its behaviors. */
  readonly distribution: Distribution
  /** The DNS record that a custom domain needs. */
  readonly dnsRecord: string | undefined

  constructor(scope: Construct, id: string, props: VideoCdnProps) {
    super(scope, id)
    this.distribution = new Distribution(this, 'Distribution', {
      comment: props.isFrontDoor ? 'Reelgate' : 'Reelgate videos',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(props.bucket, {
          originAccessControl: new S3OriginAccessControl(this, 'OriginAccess', {
            originAccessControlName: accountWide('videos'),
          }),
        }),
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        ...(props.isOpenToBrowsers ? FOR_BROWSERS : { allowedMethods: AllowedMethods.ALLOW_GET_HEAD }),
        cachePolicy: NOTHING_KEPT,
        compress: false,
        trustedKeyGroups: [props.keyGroup],
        responseHeadersPolicy: createHeadersPolicy(this),
      },
      ...(props.isFrontDoor ? { errorResponses: ERRORS_NOT_KEPT } : {}),
      ...domainOf(this, props.customDomain),
    })
    const { distributionDomainName } = this.distribution
    const { domainName } = props.customDomain ?? {}
    this.baseUrl = `https://${domainName ?? distributionDomainName}`
    this.dnsRecord = domainName && `${domainName} CNAME ${distributionDomainName}`
    this.#acknowledge(props)
  }

  #acknowledge({ customDomain, isFrontDoor }: VideoCdnProps): void {
    acknowledge(this, 'Videos are for their tenants wherever they are; no country is excluded.', 'CFR1')
    acknowledge(
      this,
      isFrontDoor
        ? 'Videos need a signature, the web ACL of the API counts by viewer, and a web ACL of the distribution is a setting.'
        : 'Every request needs a valid signature before anything is served; there is no query to filter.',
      'CFR2',
    )
    acknowledge(this, 'The log of the front door is a delivery of its own, without the queries that sign urls.', 'CFR3')
    if (customDomain === undefined) {
      acknowledge(
        this,
        'The default certificate fixes the TLS policy; a deployment with its own domain gets TLS 1.2.',
        'CFR4',
      )
    }
  }
}

/** Keeps browsers from guessing another type than video/mp4, and from falling back to http. */
function createHeadersPolicy(scope: Construct): ResponseHeadersPolicy {
  return new ResponseHeadersPolicy(scope, 'Headers', {
    responseHeadersPolicyName: accountWide('videos'),
    securityHeadersBehavior: {
      contentTypeOptions: { override: true },
      strictTransportSecurity: { accessControlMaxAge: Duration.days(TRANSPORT_SECURITY_DAYS), override: true },
    },
  })
}

function domainOf(
  scope: Construct,
  customDomain: CustomDomain | undefined,
): Pick<DistributionProps, 'certificate' | 'domainNames' | 'minimumProtocolVersion'> {
  if (customDomain === undefined) {
    return {}
  }
  return {
    domainNames: [customDomain.domainName],
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', customDomain.certificateArn),
    minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
  }
}

/** Covers a minute of retries until IAM knows new permissions, the steps themselves, and the response. */
const TIMEOUT_SECONDS = 120
/** Covers Lambda's two retries of the event, after one and two minutes. CloudFormation's default is an hour. */
const RESPONSE_MINUTES = 10
/** Generating a key of two 1024-bit primes takes about a second with this share of a CPU. */
const MEMORY_MEGABYTES = 512

/** Hexadecimal characters of the digest in the name of a public key. */
const DIGEST_CHARACTERS = 12

/** Names of CloudFront are unique in an account across all regions. */
const ACCOUNT_WIDE_PREFIX = `${Aws.STACK_NAME}-${Aws.REGION}`

const GROUP_ACTIONS = ['CreateKeyGroup', 'DeleteKeyGroup', 'GetKeyGroup', 'ListKeyGroups', 'UpdateKeyGroup']
const KEY_ACTIONS = ['CreatePublicKey', 'DeletePublicKey', 'GetPublicKey', 'ListPublicKeys']
const SECRET_ACTIONS = ['GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage']

/** The keys that sign video urls, and the group that verifies them. */
export type SigningKeyResources = {
  /** JSON: `{"keys":[{"keyPairId","privateKeyPem","createdAt"}]}`. */
  readonly secret: Secret
  /** The key group that the CDN trusts. */
  readonly keyGroup: IKeyGroup
  /** Name of the function that lists and rotates the keys; undefined if the team brings its own keys. */
  readonly functionName: string | undefined
}

/**
 * The key pairs of signed video urls, generated in the account. Private keys exist in the secret only. One function owns the
 * public keys and the key group that the CDN trusts, so keys change without a deployment.
 */
export class CdnSigningKey extends Construct implements SigningKeyResources {
  readonly secret: Secret
  readonly keyGroup: IKeyGroup
  readonly functionName: string

  constructor(scope: Construct, id: string, sources: FunctionSources) {
    super(scope, id)
    this.secret = createSigningSecret(this)
    const maker = this.#createMaker(sources)
    const resourceName = accountWide('video-urls')
    maker.setEnvironment({ CDN_SIGNING_KEY_SECRET_ARN: this.secret.secretArn, CDN_KEY_GROUP_NAME: resourceName })
    const group = new CustomResource(this, 'KeyGroup', {
      serviceToken: maker.function.functionArn,
      resourceType: 'Custom::CdnKeyGroup',
      serviceTimeout: Duration.minutes(RESPONSE_MINUTES),
      properties: { KeyGroupName: resourceName },
    })
    for (const grant of this.#grantKeys(maker)) {
      grant.applyBefore(group)
    }
    this.keyGroup = KeyGroup.fromKeyGroupId(this, 'TrustedKeyGroup', group.getAttString('KeyGroupId'))
    this.functionName = maker.function.functionName
  }

  #createMaker(sources: FunctionSources): GatewayFunction {
    return new GatewayFunction(this, 'Maker', {
      sources,
      folder: 'cdn-signing-key',
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMegabytes: MEMORY_MEGABYTES,
      files: [],
    })
  }

  #grantKeys(maker: GatewayFunction): Grant[] {
    acknowledge(
      maker,
      'CloudFront has no resources for public keys and key groups that a policy could name.',
      'IAM5[Resource::*]',
    )
    return [
      Grant.addToPrincipal({
        grantee: maker,
        actions: SECRET_ACTIONS.map((action) => `secretsmanager:${action}`),
        resourceArns: [this.secret.secretArn],
      }),
      Grant.addToPrincipal({
        grantee: maker,
        actions: [...GROUP_ACTIONS, ...KEY_ACTIONS].map((action) => `cloudfront:${action}`),
        resourceArns: ['*'],
      }),
    ]
  }
}

/**
 * Signing keys that the team generates itself. The stack has the public keys, and the operator imports the private keys into the
 * secret (`npm run admin -- cdn-key import`). A rotation deploys another public key and imports its private key.
 */
export class BroughtSigningKeys extends Construct implements SigningKeyResources {
  readonly secret: Secret
  readonly keyGroup: IKeyGroup
  readonly functionName = undefined

  /** @param publicKeyPems at least one key, SPKI in PEM. */
  constructor(scope: Construct, id: string, publicKeyPems: readonly string[]) {
    super(scope, id)
    this.secret = createSigningSecret(this)
    // Public keys of CloudFront are immutable, so the digest in the name makes another key another resource.
    const publicKeys = publicKeyPems.map((encodedKey) => {
      const digest = digestOf(encodedKey)
      return new PublicKey(this, `PublicKey${digest}`, {
        encodedKey,
        publicKeyName: `${ACCOUNT_WIDE_PREFIX}-${digest}`,
      })
    })
    this.keyGroup = new KeyGroup(this, 'BroughtKeyGroup', {
      items: publicKeys,
      keyGroupName: `${ACCOUNT_WIDE_PREFIX}-brought`,
    })
  }
}

/** Deployed empty, and deleted with the stack, because the distribution that verifies signatures is deleted too. */
function createSigningSecret(scope: Construct): Secret {
  const secret = new Secret(scope, 'Secret', {
    description: 'Reelgate: signs video urls',
    secretObjectValue: {},
    removalPolicy: RemovalPolicy.DESTROY,
  })
  acknowledge(
    secret,
    'The operator rotates these keys with an overlap in which the CDN knows both; a schedule would do it unwatched.',
    'SMG4',
  )
  return secret
}

function digestOf(pem: string): string {
  return createHash('sha256').update(pem.trim()).digest('hex').slice(0, DIGEST_CHARACTERS)
}
