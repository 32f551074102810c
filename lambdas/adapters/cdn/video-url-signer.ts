import type { VideoJob } from '#core/jobs/video-job.ts'
import { openUrlSigner, type UrlSigner } from './signed-url.ts'
import { videoDelivery } from './video-delivery.ts'

/** Opens the signer for the URL of one job. */
export type OpenUrlSigner = (job: Pick<VideoJob, 'videoKey' | 'expiresAt'>) => Promise<UrlSigner>

/**
 * Opens the signer that the stack chose, for CDN URLs or for presigned URLs of the bucket. The code for presigned URLs is loaded
 * only where they are used, so it does not slow a cold start behind a CDN.
 */
export const openVideoUrlSigner: OpenUrlSigner = async (job) => {
  if (videoDelivery() === 'cdn') {
    return await openUrlSigner()
  }
  const { presignVideoUrl } = await import('./presigned-url.ts')
  const url = await presignVideoUrl(job)
  return () => url
}
