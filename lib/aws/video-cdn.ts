import { Aws, Duration } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  type DistributionProps,
  type IKeyGroup,
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

const TRANSPORT_SECURITY_DAYS = 365

/** What CloudFront has is named once in an account, whatever the region of the stack; at most 64 characters. */
const ACCOUNT_WIDE_NAME = `${Aws.STACK_NAME}-videos-${Aws.REGION}`

/**
 * A deleted video is not served from the next request on. A copy at the edge would have to be invalidated, which costs 12,500
 * times what it saves at each fetch (docs/decisions/0108).
 */
const NOTHING_KEPT = CachePolicy.CACHING_DISABLED

type VideoCdnProps = {
  readonly bucket: IBucket
  /** Verifies the urls; nothing else is served. */
  readonly keyGroup: IKeyGroup
  /** Without one, viewers use the distribution's own name and the TLS versions that CloudFront fixes for it. */
  readonly customDomain: CustomDomain | undefined
}

/** CloudFront in front of the private bucket: every read needs a signed url, over https. */
export class VideoCdn extends Construct {
  readonly baseUrl: string
  /** What the operator has to write into the zone of a name of the team's own. */
  readonly dnsRecord: string | undefined

  constructor(scope: Construct, id: string, props: VideoCdnProps) {
    super(scope, id)
    const distribution = new Distribution(this, 'Distribution', {
      comment: 'Reelgate videos',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(props.bucket, {
          originAccessControl: new S3OriginAccessControl(this, 'OriginAccess', {
            originAccessControlName: ACCOUNT_WIDE_NAME,
          }),
        }),
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
        cachePolicy: NOTHING_KEPT,
        compress: false,
        trustedKeyGroups: [props.keyGroup],
        responseHeadersPolicy: createHeadersPolicy(this),
      },
      ...domainOf(this, props.customDomain),
    })
    const { distributionDomainName } = distribution
    const { domainName } = props.customDomain ?? {}
    this.baseUrl = `https://${domainName ?? distributionDomainName}`
    this.dnsRecord = domainName && `${domainName} CNAME ${distributionDomainName}`
    this.#acknowledge(props.customDomain)
  }

  #acknowledge(customDomain: CustomDomain | undefined): void {
    acknowledge(this, 'Videos are for their tenants wherever they are; no country is excluded.', 'CFR1')
    acknowledge(
      this,
      'Every request needs a valid signature before anything is served; there is no query to filter.',
      'CFR2',
    )
    acknowledge(this, 'Access logs would hold signed urls, which are keys to the videos until they end.', 'CFR3')
    if (customDomain === undefined) {
      acknowledge(
        this,
        'The default certificate fixes the TLS policy; a deployment with its own domain gets TLS 1.2.',
        'CFR4',
      )
    }
  }
}

/** What is stored is video/mp4; a browser must not guess otherwise, nor fall back to http. */
function createHeadersPolicy(scope: Construct): ResponseHeadersPolicy {
  return new ResponseHeadersPolicy(scope, 'Headers', {
    responseHeadersPolicyName: ACCOUNT_WIDE_NAME,
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
