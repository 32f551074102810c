import { Duration } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  type DistributionProps,
  type IKeyGroup,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import type { CustomDomain } from '../config/stage-settings.ts'
import { acknowledge } from './acknowledge.ts'
import { accountWide } from './front-door-names.ts'

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
