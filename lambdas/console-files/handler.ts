import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import * as z from 'zod/mini'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { S3Client } from '#platform/aws/bucket-client.ts'
import { type Outcome, respondToCloudFormation, retryTransientErrors } from '#platform/aws/custom-resource.ts'
import { environmentVariable } from '#platform/configuration.ts'
import { emptyBucket, writeFiles } from './bucket-files.ts'

/** The build of the console, as the deployment packs it beside the code. */
const filesSchema = z.array(
  z.object({ key: z.string(), contentType: z.string(), cacheControl: z.string(), base64: z.string() }),
)

const client = new S3Client({})

/**
 * Writes the console into its bucket `BUCKET_NAME`: a custom resource of CloudFormation. A deletion empties the bucket, so that
 * CloudFormation can delete it.
 * @throws ResponseNotTakenError if CloudFormation did not accept the response, so that Lambda retries the event.
 */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  const outcome = await run(event)
  const physicalResourceId = environmentVariable('BUCKET_NAME')
  await respondToCloudFormation(event, { outcome, physicalResourceId })
}

async function run({ RequestType }: CloudFormationCustomResourceEvent): Promise<Outcome> {
  const bucket = { client, name: environmentVariable('BUCKET_NAME') }
  try {
    await retryTransientErrors(() =>
      RequestType === 'Delete' ? emptyBucket(bucket) : writeFiles(bucket, readFiles(), Date.now()),
    )
    return { Status: 'SUCCESS', Data: {} }
  } catch (error) {
    const Reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error'
    console.error(JSON.stringify({ level: 'ERROR', message: 'console not written', error: Reason }))
    return { Status: 'FAILED', Reason }
  }
}

function readFiles() {
  const file = join(process.env.LAMBDA_TASK_ROOT ?? '.', 'console.json')
  return filesSchema.parse(parseJsonText(readFileSync(file, 'utf8')))
}
