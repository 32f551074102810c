import { createHash } from 'node:crypto'
import { CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Grant } from 'aws-cdk-lib/aws-iam'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import type { FunctionSources } from './function-sources.ts'
import { GatewayFunction } from './gateway-function.ts'
import { packConsole } from './pack-console.ts'
import { createPrivateBucket } from './private-bucket.ts'

/** Covers a minute of retries until IAM knows new permissions, the writes, and the response. */
const TIMEOUT_SECONDS = 120
/** Covers Lambda's two retries of the event, after one and two minutes. */
const RESPONSE_MINUTES = 10
const MEMORY_MEGABYTES = 512

/**
 * The private bucket of the console, and the function that fills it at each deployment. CDK's own construct for this brings the AWS
 * CLI, with a role for all buckets; this function writes into its own bucket alone.
 */
export class ConsoleSite extends Construct {
  readonly bucket: IBucket

  constructor(scope: Construct, id: string, sources: FunctionSources) {
    super(scope, id)
    this.bucket = createPrivateBucket(this, {
      // Each deployment writes its content again.
      removalPolicy: RemovalPolicy.DESTROY,
    })
    acknowledge(this, 'The bucket holds the public files of the console, which are the same in every deployment.', 'S1')
    this.#fill(sources)
  }

  #fill(sources: FunctionSources): void {
    const writer = new GatewayFunction(this, 'Writer', {
      sources,
      folder: 'console-files',
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMegabytes: MEMORY_MEGABYTES,
      files: ['console.json'],
    })
    writer.setEnvironment({ BUCKET_NAME: this.bucket.bucketName })
    const objects = this.bucket.arnForObjects('console/*')
    acknowledgeWildcard(writer, 'Files of the console are named by the hash of their content.', objects)
    const grants = [
      Grant.addToPrincipal({
        grantee: writer,
        actions: ['s3:PutObject', 's3:DeleteObject'],
        resourceArns: [objects],
      }),
      Grant.addToPrincipal({
        grantee: writer,
        actions: ['s3:ListBucket'],
        resourceArns: [this.bucket.bucketArn],
      }),
    ]
    const files = new CustomResource(this, 'Files', {
      serviceToken: writer.function.functionArn,
      resourceType: 'Custom::ConsoleFiles',
      serviceTimeout: Duration.minutes(RESPONSE_MINUTES),
      // Another digest makes CloudFormation call the function again.
      properties: { Digest: createHash('sha256').update(packConsole(sources.consoleFolder)).digest('hex') },
    })
    for (const grant of grants) {
      grant.applyBefore(files)
    }
  }
}
