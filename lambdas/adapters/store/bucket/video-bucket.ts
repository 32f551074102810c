import type { S3Client } from '@aws-sdk/client-s3'
import { environmentVariable } from '../../environment.ts'

/** The one bucket: videos below `v/`, which the CDN serves; below `requests/` and `texts/` what is too large for the table. */
export type Bucket = { readonly client: S3Client; readonly name: string }

/** Opens the bucket when it is first needed. */
export type OpenBucket = () => Bucket | Promise<Bucket>

/** Loads the client when it is first needed: most invocations use no object, and every cold start would pay for it. */
const loadClient = () => import('./bucket-client.ts')

/** Opens the bucket that the environment names (`BUCKET_NAME`). */
export async function openBucket(): Promise<Bucket> {
  const { S3Client } = await loadClient()
  return { client: new S3Client({}), name: environmentVariable('BUCKET_NAME') }
}

/** Object key of a video: unguessable, and fixed at creation, so that every try stores to the same place. */
export function videoKey(randomHex: string, jobId: string): string {
  return `v/${randomHex}/${jobId}.mp4`
}

/** Deletes an object; a missing one is no error. */
export async function deleteObject(bucket: Bucket, key: string): Promise<void> {
  const { DeleteObjectCommand } = await loadClient()
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }))
}

/** Writes a string as an object, replacing an older one. */
export async function putText(bucket: Bucket, key: string, text: string): Promise<void> {
  const { PutObjectCommand } = await loadClient()
  await bucket.client.send(
    new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: text, ContentType: 'application/json' }),
  )
}

/** Reads an object as a string. @throws when it does not exist. */
export async function getText(bucket: Bucket, key: string): Promise<string> {
  const { GetObjectCommand } = await loadClient()
  const { Body } = await bucket.client.send(new GetObjectCommand({ Bucket: bucket.name, Key: key }))
  return (await Body?.transformToString('utf-8')) ?? ''
}
