import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import type { EngineCredentials } from '#local/engine-credentials.ts'
import { startS3Engine } from '#local/s3-engine.ts'
import type { Bucket } from '#store/bucket/bucket.ts'

/** The local S3 engine over a directory of its own, once per test file. */
export type TestBucket = {
  readonly endpoint: string
  readonly bucket: Bucket
  /** What its requests are signed with. */
  readonly credentials: EngineCredentials
  keys(prefix?: string): Promise<string[]>
  bytes(key: string): Promise<Buffer>
  close(): Promise<void>
}

export async function startTestBucket(): Promise<TestBucket> {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-bucket-'))
  const name = 'reelgate-videos'
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
  const engine = await startS3Engine({ directory, bucketName: name, credentials }, {})
  const client = new S3Client({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
  })
  return {
    endpoint: engine.endpoint,
    bucket: { client, name },
    credentials,
    keys: async (prefix = '') => {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: name, Prefix: prefix }))
      return Contents.map(({ Key }) => Key ?? '')
    },
    bytes: async (key) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: name, Key: key }))
      return Buffer.from((await Body?.transformToByteArray()) ?? [])
    },
    close: async () => {
      client.destroy()
      await engine.close()
      removeContents(directory)
    },
  }
}

/** Keeps the directory of unfinished writes: a write that begins now would fail there without anyone to catch its error. */
function removeContents(directory: string): void {
  for (const { name, parentPath } of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (name !== '.staging') {
      rmSync(join(parentPath, name), { recursive: true, force: true })
    }
  }
}
