import { createHash } from 'node:crypto'
import { Aws, CustomResource, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Grant, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import { bundleHandler } from './bundle-handler.ts'
import type { FunctionSources } from './function-sources.ts'
import { GatewayFunction } from './gateway-function.ts'
import { packRelayServer, RELAY_SERVER } from './pack-relay-server.ts'
import { createPrivateBucket } from './private-bucket.ts'
import { wantsSourceMaps, writeSourceMaps } from './source-maps.ts'

/** Covers a minute of retries until IAM knows new permissions, the write, and the response. */
const TIMEOUT_SECONDS = 120
/** Covers Lambda's two retries of the event, after one and two minutes. */
const RESPONSE_MINUTES = 10
const MEMORY_MEGABYTES = 512

/** Of a command that deploys nothing, such as `cdk destroy`, for which nothing is bundled. */
const NOTHING_BUNDLED = createHash('sha256').update('').digest('hex')

type RelayCodeProps = {
  readonly sources: FunctionSources
  /** Name of the Web Function, whose revisions may read the code. */
  readonly functionName: string
}

/**
 * The code of the relay server in a private bucket with versions, as Web Functions demand, and the function that writes it at each deployment.
 * Every start of an environment reads the code again, so nothing in the bucket expires or is replaced while the Web Function exists.
 */
export class RelayCode extends Construct {
  readonly object: { readonly bucket: string; readonly key: string; readonly versionId: string }
  /** SHA-256 of the archive. */
  readonly digest: string

  constructor(scope: Construct, id: string, { sources, functionName }: RelayCodeProps) {
    super(scope, id)
    const bucket = createPrivateBucket(this, { versioned: true, removalPolicy: RemovalPolicy.DESTROY })
    acknowledge(bucket, 'The bucket holds the code of the gateway, which the Web Function alone reads.', 'S1')
    allowRevisions(bucket, functionName)
    this.digest = digestOf(this, sources)
    this.#mapSources(sources)
    const archive = this.#keep(bucket, sources)
    this.object = {
      bucket: bucket.bucketName,
      key: archive.getAttString('Key'),
      versionId: archive.getAttString('VersionId'),
    }
  }

  /** The digest of the archive names the maps, as it names the archive in the bucket. */
  #mapSources({ root }: FunctionSources): void {
    if (Stack.of(this).bundlingRequired && wantsSourceMaps(this)) {
      const { files } = bundleHandler({ root, ...RELAY_SERVER, withSourceMaps: true })
      writeSourceMaps(this, { folder: RELAY_SERVER.folder, hash: this.digest, files })
    }
  }

  #keep(bucket: IBucket, sources: FunctionSources): CustomResource {
    const writer = new GatewayFunction(this, 'Writer', {
      sources,
      folder: 'relay-code',
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMegabytes: MEMORY_MEGABYTES,
      files: ['relay-server.zip'],
    })
    writer.setEnvironment({ BUCKET_NAME: bucket.bucketName })
    const objects = bucket.arnForObjects('*')
    acknowledgeWildcard(writer, 'Archives are named by the hash of their content.', objects)
    const grants = [
      // Whoever may not list a bucket is told of a missing object that it is forbidden.
      { actions: ['s3:ListBucket', 's3:ListBucketVersions'], resourceArns: [bucket.bucketArn] },
      { actions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObjectVersion'], resourceArns: [objects] },
    ].map((grant) => Grant.addToPrincipal({ grantee: writer, ...grant }))
    const archive = new CustomResource(this, 'Archive', {
      serviceToken: writer.function.functionArn,
      resourceType: 'Custom::RelayCode',
      serviceTimeout: Duration.minutes(RESPONSE_MINUTES),
      properties: { Digest: this.digest },
    })
    for (const grant of grants) {
      grant.applyBefore(archive)
    }
    return archive
  }
}

/** The service reads the code in the name of a revision, and checks nothing else. */
function allowRevisions(bucket: IBucket, functionName: string): void {
  const revisions = `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:web-function/${functionName}/revision/*`
  bucket.addToResourcePolicy(
    new PolicyStatement({
      sid: 'RevisionsReadTheirCode',
      principals: [new ServicePrincipal('lambda.amazonaws.com')],
      actions: ['s3:GetObject', 's3:GetObjectVersion'],
      resources: [bucket.arnForObjects('*')],
      conditions: {
        StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
        ArnLike: { 'aws:SourceArn': revisions },
      },
    }),
  )
}

function digestOf(scope: Construct, sources: FunctionSources): string {
  return Stack.of(scope).bundlingRequired
    ? createHash('sha256').update(packRelayServer(sources)).digest('hex')
    : NOTHING_BUNDLED
}
