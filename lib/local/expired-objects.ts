import { opendir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ABANDONED_UPLOAD_DAYS, OBJECT_DAYS } from '../config/platform-facts.ts'

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000

/** The directory in which s3rver keeps the parts of uploads. */
const UPLOADS = '._S3rver_uploads'

/**
 * Deletes the objects that the bucket's lifecycle rules delete on AWS, now and once a day. Without this, a host would keep every video
 * forever.
 * @param bucketDirectory the bucket in the layout of s3rver: one directory per part of a key.
 * @returns a function that ends the sweeps and resolves when none runs any more.
 */
export function startSweeping(bucketDirectory: string): () => Promise<void> {
  // The next sweep tries again.
  const sweep = () => sweepExpiredObjects(bucketDirectory, Date.now()).catch(() => undefined)
  let sweeping = sweep()
  const timer = setInterval(() => {
    sweeping = sweep()
  }, DAY_MILLISECONDS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await sweeping
  }
}

/** Deletes every object and unfinished upload that is older than its prefix allows. */
export async function sweepExpiredObjects(bucketDirectory: string, nowMilliseconds: number): Promise<void> {
  for (const [folder, days] of Object.entries({ ...OBJECT_DAYS, [UPLOADS]: ABANDONED_UPLOAD_DAYS })) {
    await sweepFolder(join(bucketDirectory, folder), nowMilliseconds - days * DAY_MILLISECONDS)
  }
}

/** Each file is judged by its own age, because the files of one object are written together. */
async function sweepFolder(path: string, writtenBefore: number): Promise<void> {
  const folder = await opendir(path).catch(ignoreAbsence)
  if (folder === undefined) {
    return
  }
  let isSwept = false
  for await (const entry of folder) {
    const entryPath = join(path, entry.name)
    if (entry.isDirectory()) {
      await sweepFolder(entryPath, writtenBefore)
      continue
    }
    const file = await stat(entryPath).catch(ignoreAbsence)
    if (file !== undefined && file.mtimeMs < writtenBefore) {
      await rm(entryPath, { force: true })
      isSwept = true
    }
  }
  if (isSwept) {
    // Fails if the directory is not empty.
    await rmdir(path).catch(() => undefined)
  }
}

/** Requests may delete objects at the same time. */
function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') {
    throw error
  }
}
