import type { S3Client } from '@aws-sdk/client-s3'
import { environmentVariable } from '../../environment.ts'

/** The one bucket: `v/` videos (served by the CDN), `requests/` and `texts/` what is too large for the table. */
export type Bucket = { readonly client: S3Client; readonly name: string }

/** Gives the bucket when it is first needed. */
export type OpenBucket = () => Bucket | Promise<Bucket>

/** Loaded when it is first needed: most invocations touch no object, and every cold start would pay for the client. */
const loadClient = () => import('./bucket-client.ts')

/** Opens the bucket that the environment names (`BUCKET_NAME`). */
export async function openBucket(): Promise<Bucket> {
  const { S3Client } = await loadClient()
  return { client: new S3Client({}), name: environmentVariable('BUCKET_NAME') }
}

/** Object key of a video: not to be guessed, fixed at creation, so that every try stores to the same place. */
export function videoKey(randomHex: string, jobId: string): string {
  return `v/${randomHex}/${jobId}.mp4`
}

/** Removes an object; one that is not there is no error. */
export async function deleteObject(bucket: Bucket, key: string): Promise<void> {
  const { DeleteObjectCommand } = await loadClient()
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }))
}

/** Writes a text object, replacing an older one. */
export async function putText(bucket: Bucket, key: string, text: string): Promise<void> {
  const { PutObjectCommand } = await loadClient()
  await bucket.client.send(
    new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: text, ContentType: 'application/json' }),
  )
}

/** Reads a text object whole. @throws when it is not there. */
export async function getText(bucket: Bucket, key: string): Promise<string> {
  const { GetObjectCommand } = await loadClient()
  const { Body } = await bucket.client.send(new GetObjectCommand({ Bucket: bucket.name, Key: key }))
  return (await Body?.transformToString('utf-8')) ?? ''
}
