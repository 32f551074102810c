import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** The key pair behind signed video urls: on AWS a CloudFront key group, here a file of the data directory. */
export type CdnKey = { readonly keyPairId: string; readonly privateKeyPem: string; readonly publicKeyPem: string }

const LOCAL_KEY_PAIR_ID = 'K1LOCALKEYPAIR'

/** Reads the key pair of a data directory, or makes one: urls stay valid over a restart. */
export function openCdnKey(file: string): CdnKey {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  }
  const privateKeyPem = readFileSync(file, 'utf8')
  const publicKeyPem = createPublicKey(privateKeyPem).export({ type: 'spki', format: 'pem' }).toString()
  return { keyPairId: LOCAL_KEY_PAIR_ID, privateKeyPem, publicKeyPem }
}
