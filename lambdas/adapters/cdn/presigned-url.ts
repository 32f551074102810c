import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { environmentVariable } from '../environment.ts'
import { once } from '../once.ts'
import { GetObjectCommand, S3Client } from '../store/bucket/bucket-client.ts'

/** The longest that S3 lets a presigned url live (S3 user guide, "Expiration time for presigned URLs"): as long as a job. */
const LIFETIME_SECONDS = 7 * 24 * 60 * 60

/** Its endpoint is that of the environment; one that is an IP address makes urls with the bucket in their path. */
const client = once(
  () => new S3Client({ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' }),
)

/**
 * Presigned S3 url of a stored video, for deployments without a CDN: it ends exactly when the job reads `expired`,
 * because it is dated the longest lifetime before that, which is when the job was made. It ends earlier with the
 * credentials that signed it: those of a function's role last some hours.
 * @throws MissingEnvironmentError without BUCKET_NAME.
 */
export async function presignVideoUrl({ videoKey, expiresAt }: Pick<VideoJob, 'videoKey' | 'expiresAt'>) {
  const command = new GetObjectCommand({ Bucket: environmentVariable('BUCKET_NAME'), Key: videoKey })
  return await getSignedUrl(client(), command, {
    signingDate: new Date((expiresAt - LIFETIME_SECONDS) * 1000),
    expiresIn: LIFETIME_SECONDS,
  })
}
