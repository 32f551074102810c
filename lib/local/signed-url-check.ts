import { createVerify } from 'node:crypto'
import type { CdnKey } from './cdn-key.ts'

/**
 * CloudFront's own check of a url with a canned policy: known key, signature over exactly this resource and end, not ended yet.
 * @param requestUrl the whole url as the client sent it.
 */
export function isSignedUrlValid(requestUrl: string, key: CdnKey, nowSeconds: number): boolean {
  const url = new URL(requestUrl)
  const expires = url.searchParams.get('Expires')
  const signature = url.searchParams.get('Signature')
  if (expires === null || signature === null || url.searchParams.get('Key-Pair-Id') !== key.keyPairId) {
    return false
  }
  if (!/^\d{1,12}$/.test(expires) || nowSeconds >= Number(expires)) {
    return false
  }
  const resource = resourceOf(requestUrl)
  const policy = `{"Statement":[{"Resource":"${resource}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`
  const bytes = Buffer.from(signature.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/'), 'base64')
  return createVerify('RSA-SHA1').update(policy).verify(key.publicKeyPem, bytes)
}

/** What was signed: the url with every query member but those of the signature itself, in their order. */
function resourceOf(requestUrl: string): string {
  const [path = '', query = ''] = requestUrl.split('?')
  const members = query.split('&').filter((member) => !/^(Expires|Signature|Key-Pair-Id)=/.test(member))
  return members.length === 0 ? path : `${path}?${members.join('&')}`
}
