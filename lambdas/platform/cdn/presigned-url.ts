import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { GetObjectCommand, S3Client } from '../aws/bucket-client.ts'
import { once } from '../cache.ts'
import { environmentVariable } from '../configuration.ts'

/** The longest lifetime of a presigned URL (S3 user guide, "Expiration time for presigned URLs"), which is that of a job. */
const LIFETIME_SECONDS = 7 * 24 * 60 * 60

/** The endpoint comes from the environment. With an IP address as endpoint, the URLs have the bucket in their path. */
const client = once(
  () => new S3Client({ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' }),
)

/**
 * Creates the presigned S3 URL of a stored video, for deployments without a CDN. The URL is dated one lifetime before the job
 * expires, so both expire at the same time. It expires earlier with the credentials that signed it: those of a function's role
 * last some hours.
 * @throws MissingEnvironmentError without BUCKET_NAME.
 */
export async function presignVideoUrl({ videoKey, expiresAt }: Pick<VideoJob, 'videoKey' | 'expiresAt'>) {
  const command = new GetObjectCommand({ Bucket: environmentVariable('BUCKET_NAME'), Key: videoKey })
  return await getSignedUrl(client(), command, {
    signingDate: new Date((expiresAt - LIFETIME_SECONDS) * 1000),
    expiresIn: LIFETIME_SECONDS,
  })
}
