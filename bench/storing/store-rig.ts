import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DeleteObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { startTestTable } from '../../test/engines/test-table.ts'
import { makeFinishedJob } from './finished-jobs.ts'
import type { Transfer, TransferFigures } from './storing-process.ts'

const BUCKET_NAME = 'reelgate-videos'
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
const REGION = 'us-east-1'

/** The local S3 engine writes an object in parts, then whole, before the parts go. */
const DISK_TIMES = 3

/** Two parts, so that code is loaded before anything is measured; more would raise what growth is counted from. */
const WARM_UP_BYTES = 10 * 2 ** 20

/** There is no room for the objects, or one did not arrive whole. */
class StoreRigError extends Error {
  override readonly name = 'StoreRigError'
}

/** Upstream, bucket and table, each in a process of its own; every transfer gets a fresh process. */
export async function startStoreRig(bytesMax: number) {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-bench-'))
  const { bavail, bsize } = statfsSync(directory)
  if (bavail * bsize < DISK_TIMES * bytesMax) {
    throw new StoreRigError(`less than ${DISK_TIMES} x ${bytesMax} bytes are free in ${tmpdir()}`)
  }
  const [engine, origin, bucket] = await Promise.all([
    startTestTable(),
    startChild('video-origin.ts', []),
    startChild('bucket-engine.ts', [join(directory, 'bucket'), BUCKET_NAME, ...Object.values(CREDENTIALS)]),
  ])
  const environment = {
    ...process.env,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    AWS_ENDPOINT_URL_S3: bucket.said,
    TABLE_NAME: engine.table.name,
    BUCKET_NAME,
    GATEWAY_CONFIG_FILE: writeConfiguration(directory, origin.said),
    LOG_LEVEL: 'ERROR',
  }
  const client = new S3Client({ endpoint: bucket.said, region: REGION, forcePathStyle: true, credentials: CREDENTIALS })
  const prepare = async (kind: Transfer['kind'], bytes: number) => {
    const url = `${origin.said}/${bytes}.mp4`
    const job = await makeFinishedJob(engine.table, url)
    const transfer: Transfer = kind === 'store' ? { kind, input: job } : { kind, url, key: job.videoKey }
    return { transfer, Key: job.videoKey, bytes }
  }
  const run = async (child: ChildProcess, { transfer, Key, bytes }: Awaited<ReturnType<typeof prepare>>) => {
    child.send(transfer)
    const figures = await nextMessage<TransferFigures>(child)
    const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket: BUCKET_NAME, Key }))
    if (ContentLength !== bytes) {
      throw new StoreRigError(`${ContentLength} of ${bytes} bytes were stored`)
    }
    await client.send(new DeleteObjectCommand({ Bucket: BUCKET_NAME, Key }))
    return figures
  }
  return {
    /** Brings a video of so many bytes into the bucket, by the store step or bare, in a fresh process. */
    transfer: async (kind: Transfer['kind'], bytes: number): Promise<TransferFigures> => {
      const { child } = await startChild('storing-process.ts', [], environment)
      try {
        await run(child, await prepare(kind, WARM_UP_BYTES))
        return await run(child, await prepare(kind, bytes))
      } finally {
        child.kill()
      }
    },
    close: async () => {
      client.destroy()
      origin.child.kill()
      bucket.child.kill()
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function startChild(file: string, parameters: string[], environment: NodeJS.ProcessEnv = process.env) {
  const child = fork(join(import.meta.dirname, file), parameters, { env: environment, execArgv: ['--expose-gc'] })
  const said = await nextMessage<string>(child)
  return { child, said }
}

/** @throws StoreRigError when the process ends first. */
function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: Message) => resolve(message))
    child.once('exit', (code) => reject(new StoreRigError(`a process ended with ${code}`)))
  })
}

function writeConfiguration(directory: string, origin: string): string {
  const file = join(REPOSITORY_ROOT, 'config', 'gateway.yaml')
  const { config } = loadGatewayConfig({ file, environment: { P2_DIRECT_BASE_URL: origin }, mode: 'synth' })
  const written = join(directory, 'gateway.json')
  writeFileSync(written, JSON.stringify({ ...config, trusted_origins: [origin] }))
  return written
}
