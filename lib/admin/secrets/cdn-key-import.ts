import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CloudFrontClient, GetPublicKeyCommand, NoSuchPublicKey } from '@aws-sdk/client-cloudfront'
import { publicKeyOf } from '#adapters/cdn/public-key-of.ts'
import type { SigningKeyView } from '#core/cdn-signing-keys.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'
import type { SigningKeyOperations } from './cdn-signing-keys.ts'

/**
 * Adds a private key whose public key CloudFront has under this id.
 * @throws CommandFailedError if the file has no private key, or another one. The error never quotes the file.
 */
export async function importSigningKey(
  keys: SigningKeyOperations,
  { keyPairId, file }: { keyPairId: string; file: string },
): Promise<readonly SigningKeyView[]> {
  const { privateKeyPem, publicKeyPem } = readPrivateKey(file)
  const deployed = await readPublicKey(keyPairId)
  if (deployed !== publicKeyPem) {
    throw new CommandFailedError(`${file} is not the private key of CloudFront's public key ${keyPairId}`)
  }
  return await keys.add({ keyPairId, privateKeyPem })
}

function readPrivateKey(file: string): { privateKeyPem: string; publicKeyPem: string } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailedError(`the file ${file} cannot be read`, { cause: error })
  }
  try {
    const privateKeyPem = createPrivateKey(text).export({ type: 'pkcs8', format: 'pem' }).toString()
    return { privateKeyPem, publicKeyPem: publicKeyOf(privateKeyPem) }
  } catch {
    // The library's message may quote the file, so it is left out.
    throw new CommandFailedError(`${file} holds no private key in PEM without a passphrase`)
  }
}

async function readPublicKey(keyPairId: string): Promise<string> {
  try {
    const { PublicKey } = await new CloudFrontClient({}).send(new GetPublicKeyCommand({ Id: keyPairId }))
    return publicKeyOf(PublicKey?.PublicKeyConfig?.EncodedKey ?? '')
  } catch (error) {
    if (error instanceof NoSuchPublicKey) {
      throw new CommandFailedError(`CloudFront has no public key ${keyPairId}: deploy it first with -c cdnPublicKey`)
    }
    throw error
  }
}
