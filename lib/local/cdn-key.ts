import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { publicKeyOf } from '#adapters/cdn/public-key-of.ts'
import { SIGNING_KEY_BITS } from '#core/cdn/signing-keys.ts'

/** The key pair behind signed video urls: on AWS a CloudFront key group, here a file of the data directory. */
export type CdnKey = { readonly keyPairId: string; readonly privateKeyPem: string; readonly publicKeyPem: string }

const LOCAL_KEY_PAIR_ID = 'K1LOCALKEYPAIR'

/** Reads the key pair of a data directory, or makes one: urls stay valid over a restart. */
export function openCdnKey(file: string): CdnKey {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: SIGNING_KEY_BITS })
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  }
  const privateKeyPem = readFileSync(file, 'utf8')
  const publicKeyPem = publicKeyOf(privateKeyPem)
  return { keyPairId: LOCAL_KEY_PAIR_ID, privateKeyPem, publicKeyPem }
}
