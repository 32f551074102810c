import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { mkdir, opendir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import S3rver from 's3rver'
import account from 's3rver/lib/models/account.js'
import { ABANDONED_UPLOAD_DAYS, type Environment, OBJECT_DAYS } from '../config/platform-facts.ts'
import { type EngineCredentials, isSignedWith } from './engine-credentials.ts'

type Store = S3rver['store']

/** A directory beside the buckets that no request can name as a bucket. */
const STAGING = '.staging'

/** The directory in which s3rver keeps the parts of uploads. */
const UPLOADS = '._S3rver_uploads'

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
  const unfinished = [join(directory, STAGING), join(directory, bucketName, UPLOADS)]
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

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000

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

/** An S3 engine, started here or external. */
export type S3Engine = { readonly endpoint: string; readonly isExternal: boolean; close(): Promise<void> }

type BucketPlace = {
  readonly directory: string
  readonly bucketName: string
  /** The credentials that requests must be signed with. */
  readonly credentials: EngineCredentials
}

/**
 * Starts s3rver over a directory, in process, or uses the endpoint in the environment. Adds what s3rver lacks: a check of signatures,
 * atomic writes, `If-None-Match: *`, the abort of a multipart upload, and the lifecycle rules of the bucket.
 */
export async function startS3Engine(
  { directory, bucketName, credentials }: BucketPlace,
  environment: Environment,
): Promise<S3Engine> {
  const endpoint = environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL
  if (endpoint) {
    return { endpoint, isExternal: true, close: async () => undefined }
  }
  mkdirSync(directory, { recursive: true })
  await discardUnfinishedWrites(directory, bucketName)
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    directory,
    silent: true,
    vhostBuckets: false,
    configureBuckets: existsSync(join(directory, bucketName)) ? [] : [{ name: bucketName }],
  })
  makeWritesAtomic(server.store)
  // s3rver checks the signature too, by its own account, so that account gets the credentials.
  account.DUMMY_ACCOUNT.createKeyPair(credentials.accessKeyId, credentials.secretAccessKey)
  server.middleware.unshift(requireSignature(credentials), abortUpload(directory), refuseOverwrite(directory))
  const { port } = await server.run()
  // The clients of AWS pool connections, and a request on one that the engine closes at that moment is an error.
  server.httpServer.keepAliveTimeout = 0
  const stopSweeping = startSweeping(join(directory, bucketName))
  return {
    endpoint: `http://127.0.0.1:${port}`,
    isExternal: false,
    close: async () => {
      await stopSweeping()
      // A connection whose request is under way would stay open after it, and the server with it.
      server.httpServer.keepAliveTimeout = 1
      await server.close()
    },
  }
}

type Middleware = S3rver['middleware'][number]

/** s3rver itself serves every request without a signature. */
function requireSignature(credentials: EngineCredentials): Middleware {
  return async (context, next) => {
    if (isSignedWith(context.req, credentials)) {
      return await next()
    }
    context.status = 403
    context.type = 'application/xml'
    context.body = ACCESS_DENIED
  }
}

/** The form of s3rver's upload ids; nothing else may become part of a path. */
const UPLOAD_ID = /^[0-9a-f]{32}$/

/** Deletes the parts of an aborted upload. */
function abortUpload(directory: string): Middleware {
  return async (context, next) => {
    const uploadId = context.query.uploadId ?? ''
    if (context.method !== 'DELETE' || !UPLOAD_ID.test(uploadId)) {
      return await next()
    }
    const [, bucketName = ''] = context.path.split('/')
    await rm(join(directory, bucketName, UPLOADS, uploadId), { recursive: true, force: true })
    context.status = 204
  }
}

const ACCESS_DENIED =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'

const PRECONDITION_FAILED =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>PreconditionFailed</Code><Message>At least one of the pre-conditions you specified did not hold</Message></Error>'

/** Responds 412 to a conditional write of an existing object, and lets conditional writes of one key through one at a time. */
function refuseOverwrite(directory: string): Middleware {
  const writing = new Map<string, Promise<unknown>>()
  return async (context, next) => {
    const isFinalWrite = context.method === 'PUT' || (context.method === 'POST' && context.query.uploadId !== undefined)
    if (!isFinalWrite || context.get('if-none-match') !== '*') {
      return await next()
    }
    const previous = writing.get(context.path) ?? Promise.resolve()
    const write = previous.then(async () => {
      if (existsSync(`${join(directory, decodeURIComponent(context.path))}._S3rver_object`)) {
        context.status = 412
        context.type = 'application/xml'
        context.body = PRECONDITION_FAILED
        return
      }
      await next()
    })
    const settled = write.catch(() => undefined)
    writing.set(context.path, settled)
    try {
      return await write
    } finally {
      if (writing.get(context.path) === settled) {
        writing.delete(context.path)
      }
    }
  }
}
