import { opendir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ABANDONED_UPLOAD_DAYS, OBJECT_DAYS } from '../config/object-lifetimes.ts'

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000

/** Where s3rver keeps the parts of uploads. */
const UPLOADS = '._S3rver_uploads'

/**
 * Deletes what the lifecycle rules of the bucket delete on AWS, now and once a day: without it the disk of a host keeps every
 * video for good.
 * @param bucketDirectory the files of the bucket, as s3rver lays them out: one directory per part of a key.
 * @returns ends it, and resolves when nothing is at work any more.
 */
export function startSweeping(bucketDirectory: string): () => Promise<void> {
  // What cannot be deleted today is met again tomorrow.
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

/** Deletes every object and every unfinished upload that is older than its prefix allows. */
export async function sweepExpiredObjects(bucketDirectory: string, nowMilliseconds: number): Promise<void> {
  for (const [folder, days] of Object.entries({ ...OBJECT_DAYS, [UPLOADS]: ABANDONED_UPLOAD_DAYS })) {
    await sweepFolder(join(bucketDirectory, folder), nowMilliseconds - days * DAY_MILLISECONDS)
  }
}

/** The files of one object are written together, so each goes by its own age. */
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
    // Not when something else lies there.
    await rmdir(path).catch(() => undefined)
  }
}

/** A request deletes objects at the same time. */
function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') {
    throw error
  }
}
