import { getSignedUrl } from '@aws-sdk/cloudfront-signer'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { environmentVariable } from '../environment.ts'
import { readSecretEntry } from '../secrets/secret-reader.ts'

/** Signs CDN urls of stored videos. Signing is deterministic: a job has one url for all its life. */
export type UrlSigner = (job: Pick<VideoJob, 'videoKey' | 'expiresAt'>) => string

type SignerSettings = { readonly baseUrl: string; readonly keyPairId: string; readonly privateKeyPem: string }

/** A url that ends exactly when the job reads `expired` (canned policy: the end is part of what is signed). */
export function createUrlSigner({ baseUrl, keyPairId, privateKeyPem }: SignerSettings): UrlSigner {
  return (job) =>
    getSignedUrl({
      url: `${baseUrl}/${job.videoKey}`,
      keyPairId,
      privateKey: privateKeyPem,
      dateLessThan: new Date(job.expiresAt * 1000).toISOString(),
    })
}

/** The signer of this deployment: the private key lies in a secret on AWS, in the environment locally. */
export async function openUrlSigner(): Promise<UrlSigner> {
  const secretArn = process.env.CDN_SIGNING_KEY_SECRET_ARN
  const privateKeyPem =
    secretArn === undefined ? environmentVariable('CDN_SIGNING_KEY') : await readSecretEntry(secretArn, 'privateKeyPem')
  return createUrlSigner({
    baseUrl: environmentVariable('CDN_BASE_URL'),
    keyPairId: environmentVariable('CDN_KEY_PAIR_ID'),
    privateKeyPem,
  })
}
