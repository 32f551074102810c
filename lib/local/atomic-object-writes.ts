import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type S3rver from 's3rver'

type Store = S3rver['store']

/** A directory beside the buckets that no request can name as a bucket. */
const STAGING = '.staging'

/** The object comes last: without it, the other two files do not count. */
const RESOURCES = ['object.md5', 'metadata.json', 'object'] as const

/** The bytes of an object did not reach its file. */
class UnfinishedWriteError extends Error {
  override readonly name = 'UnfinishedWriteError'
}

/**
 * S3 shows only complete objects. s3rver writes into the object itself, so a host that is killed during a write leaves half a video,
 * which the next conditional write takes for a stored one. Here objects are written to a staging directory and renamed.
 */
export function makeWritesAtomic(store: Store): void {
  const write = store.putObject.bind(store)
  store.putObject = async (object) => {
    const staged = { bucket: STAGING, key: randomUUID() }
    const written = await write({ ...object, ...staged })
    await untilWritten(store.getResourcePath(staged.bucket, staged.key, 'object'), written.size)
    await mkdir(dirname(store.getResourcePath(object.bucket, object.key, 'object')), { recursive: true })
    for (const resource of RESOURCES) {
      const from = store.getResourcePath(staged.bucket, staged.key, resource)
      await rename(from, store.getResourcePath(object.bucket, object.key, resource))
    }
    return written
  }
}

/** Deletes objects and uploads that an earlier process did not finish. */
export async function discardUnfinishedWrites(directory: string, bucketName: string): Promise<void> {
  const unfinished = [join(directory, STAGING), join(directory, bucketName, '._S3rver_uploads')]
  await Promise.all(unfinished.map((path) => rm(path, { recursive: true, force: true })))
}

const LOOK_MILLISECONDS = 2
const LOOKS_MAX = 5000

/** s3rver responds when it has read the last bytes, shortly before they are in the file. */
async function untilWritten(file: string, size: number): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const found = await stat(file).catch(() => undefined)
    if (found?.size === size) {
      return
    }
    await delay(LOOK_MILLISECONDS)
  }
  throw new UnfinishedWriteError(`${file} did not reach ${size} bytes`)
}
