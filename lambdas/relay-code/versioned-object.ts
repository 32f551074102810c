import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  PutObjectCommand,
  type S3Client,
} from '#adapters/store/bucket/bucket-client.ts'

/** A bucket that keeps every version of its objects. */
export type VersionedBucket = { readonly client: Pick<S3Client, 'send'>; readonly name: string }

/** The bucket has no versions, so that a revision could not name the one it runs. */
class UnversionedBucketError extends Error {
  override readonly name = 'UnversionedBucketError'
}

/** Answers of S3 to a second write of an object that must not exist. */
const WRITTEN_ALREADY = new Set(['PreconditionFailed', 'ConditionalRequestConflict'])

/** The version of an object; undefined if there is none. @throws errors of S3. */
export async function versionOf({ client, name }: VersionedBucket, key: string): Promise<string | undefined> {
  try {
    const { VersionId } = await client.send(new HeadObjectCommand({ Bucket: name, Key: key }))
    return requireVersion(VersionId)
  } catch (error) {
    if (error instanceof Error && (error.name === 'NotFound' || error.name === 'NoSuchKey')) {
      return undefined
    }
    throw error
  }
}

/**
 * Writes an object that does not exist yet. Of two runs at the same time, one writes, and both get its version: no version that a revision
 * names is ever covered by another one.
 * @throws UnversionedBucketError; errors of S3.
 */
export async function writeOnce(bucket: VersionedBucket, key: string, body: Buffer): Promise<string> {
  const { client, name: Bucket } = bucket
  try {
    const put = new PutObjectCommand({ Bucket, Key: key, Body: body, ContentType: 'application/zip', IfNoneMatch: '*' })
    return requireVersion((await client.send(put)).VersionId)
  } catch (error) {
    const version = error instanceof Error && WRITTEN_ALREADY.has(error.name) ? await versionOf(bucket, key) : undefined
    if (version === undefined) {
      throw error
    }
    return version
  }
}

/** Deletes every version of every object, so that CloudFormation can delete the bucket. @throws errors of S3. */
export async function deleteEveryVersion({ client, name: Bucket }: VersionedBucket): Promise<void> {
  let marker: { readonly KeyMarker?: string | undefined; readonly VersionIdMarker?: string | undefined } | undefined =
    {}
  while (marker !== undefined) {
    const page: ListObjectVersionsCommandOutput = await client.send(
      new ListObjectVersionsCommand({ Bucket, ...marker }),
    )
    for (const { Key, VersionId } of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]) {
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
    }
    marker = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker } : undefined
  }
}

function requireVersion(version: string | undefined): string {
  if (version === undefined || version === 'null') {
    throw new UnversionedBucketError('the bucket of the code keeps no versions: turn versioning on')
  }
  return version
}
