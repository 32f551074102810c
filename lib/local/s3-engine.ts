import { existsSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import S3rver from 's3rver'
import account from 's3rver/lib/models/account.js'
import type { Environment } from '../config/platform-facts.ts'
import { discardUnfinishedWrites, makeWritesAtomic } from './atomic-object-writes.ts'
import type { EngineCredentials } from './engine-credentials.ts'
import { startSweeping } from './expired-objects.ts'
import { isSignedWith } from './request-signature.ts'

/** An S3 engine, started here or external. */
export type S3Engine = { readonly endpoint: string; close(): Promise<void> }

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
    return { endpoint, close: async () => undefined }
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
  const stopSweeping = startSweeping(join(directory, bucketName))
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: async () => {
      await stopSweeping()
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
    await rm(join(directory, bucketName, '._S3rver_uploads', uploadId), { recursive: true, force: true })
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
