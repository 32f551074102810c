import type { VideoJob } from '#core/jobs/video-job.ts'
import { openUrlSigner, type UrlSigner } from './signed-url.ts'
import { videoDelivery } from './video-delivery.ts'

/** Opens what signs the url of one job. */
export type OpenUrlSigner = (job: Pick<VideoJob, 'videoKey' | 'expiresAt'>) => Promise<UrlSigner>

/**
 * The signer that the stack chose: of CDN urls, or of presigned urls of the bucket. Those are loaded only where they
 * are used, so that a cold start behind a CDN does not pay for them.
 */
export const openVideoUrlSigner: OpenUrlSigner = async (job) => {
  if (videoDelivery() === 'cdn') {
    return await openUrlSigner()
  }
  const { presignVideoUrl } = await import('./presigned-url.ts')
  const url = await presignVideoUrl(job)
  return () => url
}
