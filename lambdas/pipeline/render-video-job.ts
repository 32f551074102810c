import type { UrlSigner } from '#adapters/cdn/signed-url.ts'
import { type OpenUrlSigner, openVideoUrlSigner } from '#adapters/cdn/video-url-signer.ts'
import { once } from '#adapters/once.ts'
import { loadTextIfThere } from '#adapters/store/bucket/text-store.ts'
import type { OpenBucket } from '#adapters/store/bucket/video-bucket.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { videoJobBody } from '#core/jobs/video-job-view.ts'

/** Renders jobs for readers, with the signing key read only when a job has something to sign. */
export type JobRenderer = (job: VideoJob, nowSeconds: number) => Promise<string>

/** Makes a renderer that opens the bucket once, when a job first has a text of its upstream there. */
export function createJobRenderer(openBucket: OpenBucket, openSigner: OpenUrlSigner = openVideoUrlSigner): JobRenderer {
  const bucket = once(openBucket)
  return async (job, nowSeconds) => {
    const upstreamText = await loadTextIfThere(bucket, job.pollText ?? job.submitText)
    const signUrl: UrlSigner = job.status === 'succeeded' ? await openSigner(job) : unsigned
    return videoJobBody(job, { nowSeconds, upstreamText, signUrl })
  }
}

/** A job without a stored video has no url; this is never asked. */
const unsigned: UrlSigner = () => ''
