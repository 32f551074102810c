import { getSignedUrl } from '@aws-sdk/cloudfront-signer'
import { keyThatSigns } from '#core/cdn-signing-keys.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { RecentValues } from '../cache.ts'
import { environmentVariable } from '../configuration.ts'
import { readSecretText } from '../secrets.ts'
import { parseSigningKeySecret, publishedKeys, type StoredSigningKey } from './signing-key-secret.ts'

/** Signs the CDN URL of a stored video. Signing is deterministic: a job has one URL until the key is rotated. */
export type UrlSigner = (job: Pick<VideoJob, 'videoKey' | 'expiresAt'>) => string

/** No key can sign: the secret is still empty, or the CDN knows none of its keys. */
export class MissingSigningKeyError extends Error {
  override readonly name = 'MissingSigningKeyError'
}

type SigningKeyPair = { readonly keyPairId: string; readonly privateKeyPem: string }

type SignerSettings = SigningKeyPair & { readonly baseUrl: string }

/** The number of signed URLs kept, about a megabyte: clients request the jobs of their first page again and again. */
const URLS_MAX = 2_000

/**
 * Creates a signer of URLs that expire together with the job (canned policy: the expiry is a part of what is signed). A
 * signature costs more than the rest of a read request, so every URL is signed once.
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

/**
 * Opens the signer of this deployment. On AWS its keys are in a secret; locally the one key is in the environment.
 * @throws MissingSigningKeyError when the secret holds no key; as readSecretText when the secret cannot be read.
 */
export async function openUrlSigner(nowMilliseconds = Date.now()): Promise<UrlSigner> {
  const secretArn = process.env.CDN_SIGNING_KEY_SECRET_ARN
  const key =
    secretArn === undefined
      ? { keyPairId: environmentVariable('CDN_KEY_PAIR_ID'), privateKeyPem: environmentVariable('CDN_SIGNING_KEY') }
      : await readSigningKey(secretArn, nowMilliseconds)
  const settings = { baseUrl: environmentVariable('CDN_BASE_URL'), ...key }
  // A rotated key needs another signer, which has signed nothing yet.
  if (opened === undefined || !isSame(opened.settings, settings)) {
    opened = { settings, signer: createUrlSigner(settings) }
  }
  return opened.signer
}

async function readSigningKey(secretArn: string, nowMilliseconds: number): Promise<SigningKeyPair> {
  const cached = findSigningKey(await readSecretText(secretArn), nowMilliseconds)
  const key = cached ?? findSigningKey(await readSecretText(secretArn, 'rechecked'), nowMilliseconds)
  if (key === undefined) {
    throw new MissingSigningKeyError('the secret holds no key that signs video urls')
  }
  return key
}

/** The last parsed secret, which is the same for thousands of requests. */
let parsed: { readonly text: string; readonly keys: readonly StoredSigningKey[] } | undefined

function findSigningKey(text: string, nowMilliseconds: number): SigningKeyPair | undefined {
  parsed = parsed?.text === text ? parsed : { text, keys: parseSigningKeySecret(text) }
  return keyThatSigns(publishedKeys(parsed.keys), nowMilliseconds)
}

function isSame(left: SignerSettings, right: SignerSettings): boolean {
  return (
    left.baseUrl === right.baseUrl && left.keyPairId === right.keyPairId && left.privateKeyPem === right.privateKeyPem
  )
}

/** Opens the signer for the URL of one job. */
export type OpenUrlSigner = (job: Pick<VideoJob, 'videoKey' | 'expiresAt'>) => Promise<UrlSigner>

/**
 * Opens the signer that the stack chose (`VIDEO_DELIVERY`), for CDN URLs or for presigned URLs of the bucket. The code for presigned URLs is loaded
 * only where they are used, so it does not slow a cold start behind a CDN.
 */
export const openVideoUrlSigner: OpenUrlSigner = async (job) => {
  if (process.env.VIDEO_DELIVERY !== 'bucket') {
    return await openUrlSigner()
  }
  const { presignVideoUrl } = await import('./presigned-url.ts')
  const url = await presignVideoUrl(job)
  return () => url
}
