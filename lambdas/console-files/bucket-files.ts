import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '#platform/aws/bucket-client.ts'

/** A bucket that holds the console and nothing else. */
export type ConsoleBucket = { readonly client: Pick<S3Client, 'send'>; readonly name: string }

/** One file of the console. */
export type PackedFile = {
  /** Path of the file's url, without the first slash. */
  readonly key: string
  readonly contentType: string
  readonly cacheControl: string
  readonly base64: string
}

/** Pages of an earlier build may still load parts of it; nobody keeps a page open for longer than this. */
const EARLIER_FILES_MILLISECONDS = 7 * 24 * 60 * 60 * 1_000

/**
 * Writes all files, pages after the parts that they name, and deletes files of earlier builds that are older than a week. Safe to
 * repeat.
 * @throws errors of S3.
 */
export async function writeFiles(bucket: ConsoleBucket, files: readonly PackedFile[], now: number): Promise<void> {
  const isPage = ({ contentType }: PackedFile) => contentType.startsWith('text/html')
  await Promise.all(files.filter((file) => !isPage(file)).map((file) => writeFile(bucket, file)))
  await Promise.all(files.filter(isPage).map((file) => writeFile(bucket, file)))
  const current = new Set(files.map(({ key }) => key))
  await deleteFiles(bucket, ({ key, modifiedAt }) => !current.has(key) && now - modifiedAt > EARLIER_FILES_MILLISECONDS)
}

/** Deletes all files. @throws errors of S3. */
export async function emptyBucket(bucket: ConsoleBucket): Promise<void> {
  await deleteFiles(bucket, () => true)
}

async function writeFile(
  { client, name }: ConsoleBucket,
  { key, contentType, cacheControl, base64 }: PackedFile,
): Promise<void> {
  const Body = Buffer.from(base64, 'base64')
  await client.send(
    new PutObjectCommand({ Bucket: name, Key: key, Body, ContentType: contentType, CacheControl: cacheControl }),
  )
}

type StoredFile = { readonly key: string; readonly modifiedAt: number }

async function deleteFiles({ client, name }: ConsoleBucket, isUnused: (file: StoredFile) => boolean): Promise<void> {
  for (const { key } of (await listFiles({ client, name })).filter(isUnused)) {
    await client.send(new DeleteObjectCommand({ Bucket: name, Key: key }))
  }
}

async function listFiles({ client, name }: ConsoleBucket): Promise<readonly StoredFile[]> {
  const found: StoredFile[] = []
  let token: string | undefined
  do {
    const page = await client.send(new ListObjectsV2Command({ Bucket: name, ContinuationToken: token }))
    for (const { Key, LastModified } of page.Contents ?? []) {
      found.push({ key: Key ?? '', modifiedAt: LastModified?.getTime() ?? 0 })
    }
    token = page.NextContinuationToken
  } while (token !== undefined)
  return found
}
