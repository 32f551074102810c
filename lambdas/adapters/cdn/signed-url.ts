import { getSignedUrl } from '@aws-sdk/cloudfront-signer'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { environmentVariable } from '../environment.ts'
import { RecentValues } from '../recent-values.ts'
import { readSecretEntry } from '../secrets/secret-reader.ts'

/** Signs CDN urls of stored videos. Signing is deterministic: a job has one url for all its life. */
export type UrlSigner = (job: Pick<VideoJob, 'videoKey' | 'expiresAt'>) => string

type SignerSettings = { readonly baseUrl: string; readonly keyPairId: string; readonly privateKeyPem: string }

/** Signed urls that are kept, about a megabyte: clients ask again and again for the jobs on their first page. */
const URLS_MAX = 2_000

/**
 * A url that ends exactly when the job reads `expired` (canned policy: the end is part of what is signed). A signature
 * costs more than all the rest of a reading request, so every url is signed once.
 */
export function createUrlSigner({ baseUrl, keyPairId, privateKeyPem }: SignerSettings): UrlSigner {
  const urls = new RecentValues<string>(URLS_MAX)
  return ({ videoKey, expiresAt }) => {
    const name = `${videoKey} ${expiresAt}`
    const url = urls.get(name) ?? signed({ videoKey, expiresAt })
    urls.set(name, url)
    return url
  }

  function signed({ videoKey, expiresAt }: Parameters<UrlSigner>[0]): string {
    return getSignedUrl({
      url: `${baseUrl}/${videoKey}`,
      keyPairId,
      privateKey: privateKeyPem,
      dateLessThan: new Date(expiresAt * 1000).toISOString(),
    })
  }
}

let opened: { readonly settings: SignerSettings; readonly signer: UrlSigner } | undefined

/** The signer of this deployment: the private key lies in a secret on AWS, in the environment locally. */
export async function openUrlSigner(): Promise<UrlSigner> {
  const secretArn = process.env.CDN_SIGNING_KEY_SECRET_ARN
  const privateKeyPem =
    secretArn === undefined ? environmentVariable('CDN_SIGNING_KEY') : await readSecretEntry(secretArn, 'privateKeyPem')
  const settings = {
    baseUrl: environmentVariable('CDN_BASE_URL'),
    keyPairId: environmentVariable('CDN_KEY_PAIR_ID'),
    privateKeyPem,
  }
  // A rotated key is another signer, which has signed nothing yet.
  if (opened === undefined || !isSame(opened.settings, settings)) {
    opened = { settings, signer: createUrlSigner(settings) }
  }
  return opened.signer
}

function isSame(left: SignerSettings, right: SignerSettings): boolean {
  return (
    left.baseUrl === right.baseUrl && left.keyPairId === right.keyPairId && left.privateKeyPem === right.privateKeyPem
  )
}
