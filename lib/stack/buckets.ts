import { CfnResource, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Effect, Grant, type IGrantable, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type CorsRule,
  HttpMethods,
  type IBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3'
import { Construct, type IConstruct } from 'constructs'
import { type AllowedOrigins, EXPOSED_VIDEO_HEADERS, PREFLIGHT_SECONDS } from '#core/api/cross-origin.ts'
import type { ObjectAction, ObjectPrefix } from '#routes/needs.ts'
import { ABANDONED_UPLOAD_DAYS, OBJECT_DAYS } from '../config/platform-facts.ts'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import { ServiceLogGroup } from './logs.ts'

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

/** CDK's name of the function that empties the buckets of a stack. */
const EMPTIER = 'Custom::S3AutoDeleteObjectsCustomResourceProvider'

/**
 * Gives CDK's function that empties buckets a log group of the stack and permission to write to it, instead of a managed policy and
 * a log group that Lambda would create and the stack would not delete.
 */
export function tidyBucketEmptier(scope: Construct): void {
  const provider = Stack.of(scope).node.findChild(EMPTIER)
  const [role, handler] = [provider.node.findChild('Role'), provider.node.findChild('Handler')]
  if (!(CfnResource.isCfnResource(role) && CfnResource.isCfnResource(handler))) {
    throw new TypeError(`${EMPTIER} is not built as expected: has the CDK changed?`)
  }
  const logGroup = new ServiceLogGroup(scope, 'EmptierLog')
  handler.addPropertyOverride('LoggingConfig', { LogGroup: logGroup.logGroupName })
  handler.addPropertyOverride('Description', 'Reelgate: empties the bucket when the stack ends')
  role.addPropertyDeletionOverride('ManagedPolicyArns')
  role.addPropertyOverride('Policies', [
    {
      PolicyName: 'WriteLog',
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
            Resource: logGroup.logGroupArn,
          },
        ],
      },
    },
  ])
}

type VideoBucketProps = {
  readonly outlivesStack: boolean
  /** Empties the bucket when the stack is deleted. Otherwise, the deletion of the stack fails unless the bucket is empty. */
  readonly isEmptiedAtEnd: boolean
  /** Origins whose scripts may read videos. */
  readonly corsOrigins: AllowedOrigins
}

/** The private bucket. Its lifecycle rules only free space: whether a job has expired is computed when it is read. */
export class VideoBucket extends Construct {
  readonly bucket: IBucket

  constructor(scope: Construct, id: string, props: VideoBucketProps) {
    super(scope, id)
    this.bucket = createPrivateBucket(this, {
      removalPolicy: props.outlivesStack ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      autoDeleteObjects: props.isEmptiedAtEnd,
      ...(props.corsOrigins.length === 0 ? {} : { cors: [readableBy(props.corsOrigins)] }),
      lifecycleRules: [
        { id: 'videos', prefix: 'v/', expiration: Duration.days(OBJECT_DAYS['v/']) },
        { id: 'requests', prefix: 'requests/', expiration: Duration.days(OBJECT_DAYS['requests/']) },
        { id: 'texts', prefix: 'texts/', expiration: Duration.days(OBJECT_DAYS['texts/']) },
        { id: 'abandoned-uploads', abortIncompleteMultipartUploadAfter: Duration.days(ABANDONED_UPLOAD_DAYS) },
      ],
    })
    if (props.isEmptiedAtEnd) {
      tidyBucketEmptier(this)
    }
    this.#keepTheCdnToVideos()
    acknowledge(
      this,
      'Only the functions of this stack and its CDN reach the bucket. Turn on CloudTrail data events where an audit asks for them.',
      'S1',
    )
  }

  /** Grants these actions on the objects below one prefix. */
  grantObjects(grantee: IGrantable & IConstruct, actions: readonly ObjectAction[], prefix: ObjectPrefix): void {
    const resourceArn = this.bucket.arnForObjects(`${prefix}*`)
    Grant.addToPrincipal({ grantee, actions: actions.map((action) => `s3:${action}`), resourceArns: [resourceArn] })
    acknowledgeWildcard(grantee, `Objects below ${prefix} are named at run time.`, resourceArn)
  }

  /** Denies the distribution the request bodies, because its origin access control grants the whole bucket. */
  #keepTheCdnToVideos(): void {
    this.bucket.addToResourcePolicy(
      new PolicyStatement({
        sid: 'CdnReadsVideosOnly',
        effect: Effect.DENY,
        principals: [new ServicePrincipal('cloudfront.amazonaws.com')],
        actions: ['s3:GetObject'],
        notResources: [this.bucket.arnForObjects('v/*')],
      }),
    )
  }
}

/** Any request header: browsers send `Range` and `If-Range`, and a signed url allows no more than reading. */
function readableBy(origins: AllowedOrigins): CorsRule {
  return {
    allowedOrigins: [...origins],
    allowedMethods: [HttpMethods.GET, HttpMethods.HEAD],
    allowedHeaders: ['*'],
    exposedHeaders: [...EXPOSED_VIDEO_HEADERS],
    maxAge: PREFLIGHT_SECONDS,
  }
}
