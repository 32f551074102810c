import { videoJobBody } from '#core/api/video-job-view.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { once } from '#platform/cache.ts'
import { type OpenUrlSigner, openVideoUrlSigner, type UrlSigner } from '#platform/cdn/video-urls.ts'
import { loadTextIfThere, type OpenBucket } from '#store/bucket/bucket.ts'

/** Renders a job for readers. Reads the signing key only for a job with a url. */
export type JobRenderer = (job: VideoJob, nowSeconds: number) => Promise<string>

/** Makes a renderer that opens the bucket once, for the first job whose upstream reply is there. */
export function createJobRenderer(openBucket: OpenBucket, openSigner: OpenUrlSigner = openVideoUrlSigner): JobRenderer {
  const bucket = once(openBucket)
  return async (job, nowSeconds) => {
    const upstreamText = await loadTextIfThere(bucket, job.pollText ?? job.submitText)
    const signUrl: UrlSigner = job.status === 'succeeded' ? await openSigner(job) : unsigned
    return videoJobBody(job, { nowSeconds, upstreamText, signUrl })
  }
}

/** For jobs without a url; never called. */
const unsigned: UrlSigner = () => ''
