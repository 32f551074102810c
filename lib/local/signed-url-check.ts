import { createVerify } from 'node:crypto'
import type { CdnKey } from './cdn-key.ts'

const MEMBERS = ['Expires', 'Signature', 'Key-Pair-Id'] as const

/**
 * CloudFront's check of a url with a canned policy: a known key, a signature over exactly this resource and expiry, and not expired. A
 * repeated parameter would be ambiguous, so each must occur once.
 * @param requestUrl the whole url as sent by the client.
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

/** Base64 in CloudFront's alphabet; undefined for any other encoding of the same bytes. */
function decode(signature: string): Buffer | undefined {
  const base64 = signature.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/')
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 ? bytes : undefined
}

/** The signed resource: the url with every query parameter except those of the signature, in order. */
function resourceOf(requestUrl: string): string {
  const [path = '', query = ''] = requestUrl.split('?')
  const members = query.split('&').filter((member) => !/^(Expires|Signature|Key-Pair-Id)=/.test(member))
  return members.length === 0 ? path : `${path}?${members.join('&')}`
}
