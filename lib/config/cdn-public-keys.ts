import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SIGNING_KEY_BITS, SIGNING_KEYS_MAX } from '#core/cdn/signing-keys.ts'
import { StageSettingsError } from './stage-settings-error.ts'

/**
 * Reads the public keys from a comma-separated list of PEM files, each as SPKI in PEM. Errors quote nothing of a file, because
 * it may hold a private key by mistake.
 * @throws StageSettingsError
 */
export function readPublicKeys(files: string | undefined): readonly string[] {
  if (files === undefined) {
    return []
  }
  const names = files.split(',').map((name) => name.trim())
  if (names.length > SIGNING_KEYS_MAX) {
    throw refusal(`names ${names.length} files; CloudFront takes at most ${SIGNING_KEYS_MAX} keys`)
  }
  if (names.includes('')) {
    throw refusal('has an empty name between commas or at an end')
  }
  const keys = names.map(readPublicKey)
  if (new Set(keys).size < keys.length) {
    throw refusal('names the same key twice')
  }
  return keys
}

function readPublicKey(file: string): string {
  if (file.includes('-----BEGIN')) {
    throw refusal('must be the path of a PEM file, not a key itself')
  }
  const key = parse(file)
  if (key.asymmetricKeyType !== 'rsa' || key.asymmetricKeyDetails?.modulusLength !== SIGNING_KEY_BITS) {
    throw refusal(`must be an RSA key of ${SIGNING_KEY_BITS} bits; ${file} holds another kind or size`)
  }
  return key.export({ type: 'spki', format: 'pem' }).toString()
}

function parse(file: string): KeyObject {
  const text = read(file)
  // createPublicKey would accept a private key and take its public half.
  if (text.includes('PRIVATE KEY')) {
    throw refusal(
      `needs a public key, but ${file} holds a private key: extract the public key with openssl rsa -pubout`,
    )
  }
  if (!/^\s*-----BEGIN (RSA )?PUBLIC KEY-----/.test(text)) {
    throw refusal(`must be a file with one PEM block BEGIN PUBLIC KEY; ${file} has no such block`)
  }
  if (text.split('-----BEGIN').length > 2) {
    throw refusal(`takes one key per file; ${file} holds several: write one file per key and separate them by commas`)
  }
  try {
    return createPublicKey(text)
  } catch {
    // The message of the library is left out, because it may quote the file.
    throw refusal(`must be a public key in PEM; ${file} cannot be read as one`)
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StageSettingsError(`the context setting cdnPublicKey names ${file}, which cannot be read`, {
      cause: error,
    })
  }
}

function refusal(text: string): StageSettingsError {
  return new StageSettingsError(`the context setting cdnPublicKey ${text}`)
}
