import { Readable } from 'node:stream'
import { S3Client } from '@aws-sdk/client-s3'
import type { Bucket } from '#store/bucket/bucket.ts'
import type { TestBucket } from '../engines/test-bucket.ts'

/** What S3 answers in place of, or after, doing what it was asked. */
type BucketFault = {
  readonly status: number
  readonly code: string
  /** How many requests meet it. */
  readonly times: number
  /** The bucket does its work first: the answer is lost, not the request. */
  readonly isDone?: boolean
}

type Operation = 'DeleteObject' | 'PutObject' | 'UploadPart' | 'CompleteMultipartUpload'

/**
 * The bucket through a client of its own whose HTTP answers are faults, by operation: what the SDK makes of them, its own
 * tries included, is real. `asked` lists every request that was meant for the wire.
 */
export function faultyBucket(
  { bucket, endpoint }: TestBucket,
  faults: Partial<Record<Operation, BucketFault>>,
): { readonly bucket: Bucket; readonly asked: readonly string[] } {
  const asked: string[] = []
  const left = new Map(Object.entries(faults).map(([operation, { times }]) => [operation, times]))
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
  const faulty = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  faulty.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const operation = String(commandName).replace(/Command$/, '')
        asked.push(operation)
        const fault = Object.entries(faults).find(([faultyOperation]) => faultyOperation === operation)?.[1]
        const times = left.get(operation) ?? 0
        if (fault === undefined || times === 0) {
          return await next(args)
        }
        left.set(operation, times - 1)
        if (fault.isDone) {
          await next(args)
        }
        return { response: faultAnswer(fault), output: { $metadata: {} } }
      },
    // Behind the SDK's own tries, in front of the wire.
    { step: 'deserialize', priority: 'low' },
  )
  return { bucket: { client: faulty, name: bucket.name }, asked }
}

function faultAnswer({ status, code }: BucketFault) {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message></Error>`
  return {
    statusCode: status,
    reason: code,
    headers: { 'content-type': 'application/xml' },
    body: Readable.from([xml]),
  }
}
