import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Effect, Grant, type IGrantable, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from 'aws-cdk-lib/aws-s3'
import { Construct, type IConstruct } from 'constructs'
import { ABANDONED_UPLOAD_DAYS, OBJECT_DAYS, type ObjectPrefix } from '../config/object-lifetimes.ts'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import { tidyBucketEmptier } from './tidy-bucket-emptier.ts'

/** What a function may be allowed to do with objects, as IAM names it. */
export type ObjectAction = 'AbortMultipartUpload' | 'DeleteObject' | 'GetObject' | 'PutObject'

const MINIMUM_TLS_VERSION = 1.2

type VideoBucketProps = {
  readonly outlivesStack: boolean
  /** Has the stack empty it at its own end; else a bucket that is not empty stays, and the removal of the stack fails. */
  readonly isEmptiedAtEnd: boolean
}

/** The private bucket. Its lifecycle only collects garbage: the end of a job is computed when it is read. */
export class VideoBucket extends Construct {
  readonly bucket: IBucket

  constructor(scope: Construct, id: string, props: VideoBucketProps) {
    super(scope, id)
    // Bucket says `isWebsite` may be undefined, IBucket says it may be absent: to the compiler not the same.
    const bucket: Omit<Bucket, 'isWebsite'> = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: MINIMUM_TLS_VERSION,
      removalPolicy: props.outlivesStack ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      autoDeleteObjects: props.isEmptiedAtEnd,
      lifecycleRules: [
        { id: 'videos', prefix: 'v/', expiration: Duration.days(OBJECT_DAYS['v/']) },
        { id: 'requests', prefix: 'requests/', expiration: Duration.days(OBJECT_DAYS['requests/']) },
        { id: 'texts', prefix: 'texts/', expiration: Duration.days(OBJECT_DAYS['texts/']) },
        { id: 'abandoned-uploads', abortIncompleteMultipartUploadAfter: Duration.days(ABANDONED_UPLOAD_DAYS) },
      ],
    })
    this.bucket = bucket
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

  /** Exact actions on the objects below one prefix. */
  grantObjects(grantee: IGrantable & IConstruct, actions: readonly ObjectAction[], prefix: ObjectPrefix): void {
    const resourceArn = this.bucket.arnForObjects(`${prefix}*`)
    Grant.addToPrincipal({ grantee, actions: actions.map((action) => `s3:${action}`), resourceArns: [resourceArn] })
    acknowledgeWildcard(grantee, `Objects below ${prefix} are named at run time.`, resourceArn)
  }

  /** The origin access control opens the whole bucket to the distribution, which must not read request bodies. */
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
