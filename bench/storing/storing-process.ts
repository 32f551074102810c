import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { StepInput } from '#core/jobs/video-job.ts'
// Loaded for the bare upload too: each garbage collection goes through all that a process has loaded.
import { handler } from '#lambdas/pipeline/store-video/handler.ts'
import { UPLOAD_PARTS } from '#store/bucket/upload-video.ts'

/** One transfer: the store step of a job, or what it takes at the least to bring the same bytes to the same place. */
export type Transfer =
  | { readonly kind: 'store'; readonly input: StepInput }
  | { readonly kind: 'bare'; readonly url: string; readonly key: string }

/** Bytes, and processor time of this process. */
export type TransferFigures = {
  readonly seconds: number
  readonly processorSeconds: number
  readonly residentBefore: number
  readonly residentPeak: number
}

const SAMPLE_MILLISECONDS = 50

/** Runs the transfers that its parent sends, one after the other, and answers the figures of each. Needs `--expose-gc`. */
process.on('message', (transfer: Transfer) => {
  void measure(transfer).then((figures) => process.send?.(figures))
})
process.send?.('ready')

async function measure(transfer: Transfer): Promise<TransferFigures> {
  const run = () => (transfer.kind === 'store' ? handler(transfer.input) : uploadBare(transfer))
  await settleMemory()
  const residentBefore = process.memoryUsage.rss()
  let residentPeak = residentBefore
  const sample = () => {
    residentPeak = Math.max(residentPeak, process.memoryUsage.rss())
  }
  const timer = setInterval(sample, SAMPLE_MILLISECONDS)
  const processorBefore = process.cpuUsage()
  const startedAt = performance.now()
  await run()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(processorBefore)
  clearInterval(timer)
  sample()
  return { seconds, processorSeconds: (user + system) / 1_000_000, residentBefore, residentPeak }
}

async function uploadBare({ url, key }: { url: string; key: string }): Promise<void> {
  const body = await new Promise<IncomingMessage>((resolve, reject) => get(url, resolve).on('error', reject))
  const params = { Bucket: process.env.BUCKET_NAME, Key: key, Body: body, ContentType: 'video/mp4' }
  await new Upload({ client: new S3Client({}), params, ...UPLOAD_PARTS }).done()
}

/** Garbage of what came before must not count. Freed pages go back to the system a moment after they are freed. */
async function settleMemory(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.()
    await delay(SAMPLE_MILLISECONDS)
  }
}
