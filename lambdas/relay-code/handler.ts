import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import * as z from 'zod/mini'
import { type Outcome, respondToCloudFormation } from '#adapters/cloudformation/respond-to-cloudformation.ts'
import { retryPassingErrors } from '#adapters/cloudformation/retry-passing-errors.ts'
import { environmentVariable } from '#adapters/environment.ts'
import { S3Client } from '#adapters/store/bucket/bucket-client.ts'
import { deleteEveryVersion, type VersionedBucket, versionOf, writeOnce } from './versioned-object.ts'

const propertiesSchema = z.object({ Digest: z.string().check(z.regex(/^[0-9a-f]{64}$/)) })

/** The archive that ships with this function is not the one that the deployment asks for. */
class OtherArchiveError extends Error {
  override readonly name = 'OtherArchiveError'
}

const client = new S3Client({})

/**
 * Keeps the code of the relay server in its bucket `BUCKET_NAME`, under the digest of the archive: a custom resource of CloudFormation, with the
 * attributes `Key` and `VersionId`. Archives of earlier deployments stay, because environments of their revisions read them at each start. The
 * end of the resource empties the bucket; by then the Web Function is deleted.
 * @throws ResponseNotTakenError if CloudFormation did not accept the response, so that Lambda retries the event.
 */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  const physicalResourceId = environmentVariable('BUCKET_NAME')
  await respondToCloudFormation(event, { outcome: await run(event), physicalResourceId })
}

async function run({ RequestType, ResourceProperties }: CloudFormationCustomResourceEvent): Promise<Outcome> {
  const bucket = { client, name: environmentVariable('BUCKET_NAME') }
  try {
    if (RequestType === 'Delete') {
      await retryPassingErrors(() => deleteEveryVersion(bucket))
      return { Status: 'SUCCESS', Data: {} }
    }
    const { Digest } = propertiesSchema.parse(ResourceProperties)
    return { Status: 'SUCCESS', Data: await retryPassingErrors(() => keepArchive(bucket, Digest)) }
  } catch (error) {
    const Reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error'
    console.error(JSON.stringify({ level: 'ERROR', message: 'code of the relay server not written', error: Reason }))
    return { Status: 'FAILED', Reason }
  }
}

/** A rollback asks for the earlier archive, which is in the bucket, from a function that may ship the later one. */
async function keepArchive(bucket: VersionedBucket, digest: string): Promise<{ Key: string; VersionId: string }> {
  const Key = `relay-server/${digest}.zip`
  return { Key, VersionId: (await versionOf(bucket, Key)) ?? (await writeOnce(bucket, Key, readArchive(digest))) }
}

/** @throws OtherArchiveError */
function readArchive(digest: string): Buffer {
  const archive = readFileSync(join(process.env.LAMBDA_TASK_ROOT ?? '.', 'relay-server.zip'))
  const found = createHash('sha256').update(archive).digest('hex')
  if (found !== digest) {
    throw new OtherArchiveError(`this function ships ${found}, and the bucket has no ${digest}: deploy again`)
  }
  return archive
}
