import { generateKeyPair } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { publicKeyOf } from '#adapters/cdn/public-key-of.ts'
import { SIGNING_KEY_BITS } from '#core/cdn-signing-keys.ts'
import { replaceFile } from '../config/replace-file.ts'

/** The key pair that signs video urls: a CloudFront key group on AWS, a file of the data directory here. */
export type CdnKey = { readonly keyPairId: string; readonly privateKeyPem: string; readonly publicKeyPem: string }

const LOCAL_KEY_PAIR_ID = 'K1LOCALKEYPAIR'

/**
 * Reads the key pair of a data directory, or creates one, so that urls stay valid over a restart. A file without a key is reported on
 * stderr and replaced, which invalidates earlier urls. A new pair takes some tenths of a second, in another thread.
 */
export async function openCdnKey(file: string): Promise<CdnKey> {
  const kept = existsSync(file) ? readKey(file) : undefined
  return kept ?? (await makeKey(file))
}

function readKey(file: string): CdnKey | undefined {
  const text = readFileSync(file, 'utf8')
  try {
    return keyOf(text)
  } catch {
    // The error may quote the key.
    console.error(`${file} holds no key: it is made anew, and urls of videos that were signed before are refused`)
    return undefined
  }
}

async function makeKey(file: string): Promise<CdnKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: SIGNING_KEY_BITS })
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  replaceFile(file, privateKeyPem, 0o600)
  return keyOf(privateKeyPem)
}

function keyOf(privateKeyPem: string): CdnKey {
  return { keyPairId: LOCAL_KEY_PAIR_ID, privateKeyPem, publicKeyPem: publicKeyOf(privateKeyPem) }
}
