import { createVerify } from 'node:crypto'
import type { CdnKey } from './cdn-key.ts'

const MEMBERS = ['Expires', 'Signature', 'Key-Pair-Id'] as const

/**
 * CloudFront's own check of a url with a canned policy: known key, signature over exactly this resource and end, not ended yet.
 * Of a member that is there twice nobody can say which one counts, so each must be there once.
 * @param requestUrl the whole url as the client sent it.
 */
export function isSignedUrlValid(requestUrl: string, key: CdnKey, nowSeconds: number): boolean {
  const url = new URL(requestUrl)
  const [expires, signature, keyPairId] = MEMBERS.map((name) => onlyValue(url, name))
  if (expires === undefined || signature === undefined || keyPairId !== key.keyPairId) {
    return false
  }
  if (!/^\d{1,12}$/.test(expires) || nowSeconds >= Number(expires)) {
    return false
  }
  const resource = resourceOf(requestUrl)
  const policy = `{"Statement":[{"Resource":"${resource}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`
  const bytes = decode(signature)
  return bytes !== undefined && createVerify('RSA-SHA1').update(policy).verify(key.publicKeyPem, bytes)
}

function onlyValue(url: URL, name: string): string | undefined {
  const [value, ...others] = url.searchParams.getAll(name)
  return others.length === 0 ? value : undefined
}

/** Base64 in CloudFront's letters; undefined for any other way to write the same bytes. */
function decode(signature: string): Buffer | undefined {
  const base64 = signature.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/')
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 ? bytes : undefined
}

/** What was signed: the url with every query member but those of the signature itself, in their order. */
function resourceOf(requestUrl: string): string {
  const [path = '', query = ''] = requestUrl.split('?')
  const members = query.split('&').filter((member) => !/^(Expires|Signature|Key-Pair-Id)=/.test(member))
  return members.length === 0 ? path : `${path}?${members.join('&')}`
}
