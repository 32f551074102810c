import { generateKeyPairSync } from 'node:crypto'
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { publicKeyOf } from '#adapters/cdn/public-key-of.ts'
import {
  type PublishedSigningKey,
  parseSigningKeySecret,
  publishedKeys,
  type StoredSigningKey,
} from '#adapters/cdn/signing-key-secret.ts'
import { readSecretVersion, replaceSecret, type SecretVersion } from '#adapters/secrets/replace-secret.ts'
import { neededUntil, SIGNING_KEY_BITS, SIGNING_KEYS_MAX, whyKeyStays } from '#core/cdn/signing-keys.ts'
import type { KeyGroup } from './key-group.ts'

/** What was asked for cannot be done now; the message is a sentence for the operator. */
export class KeyChangeRefusedError extends Error {
  override readonly name = 'KeyChangeRefusedError'
}

/** What changing keys takes from outside. */
export type KeyContext = {
  readonly secretsManager: SecretsManagerClient
  readonly secretArn: string
  readonly group: KeyGroup
  /** Unix time. */
  readonly nowMilliseconds: () => number
}

type Keys = { readonly read: SecretVersion; readonly keys: readonly StoredSigningKey[] }

/**
 * Makes sure that there is a key, that the CDN knows every key of the secret, and that the group holds them.
 * A repeated call finds what the one before has done, whole or in part.
 */
export async function ensureKeys(context: KeyContext): Promise<{ keyGroupId: string; keys: PublishedSigningKey[] }> {
  const current = await readKeys(context)
  return await complete(context, current.keys.length === 0 ? await addKey(context, current) : current)
}

/**
 * Adds a key, which signs once every edge of the CDN knows it, and removes the keys that no valid url needs any more. A
 * rotation that broke off is completed instead of another one begun.
 * @throws KeyChangeRefusedError when the group is full of keys that are still needed.
 * @throws SecretChangedError when another change was made at the same time; nothing is lost by repeating this one.
 */
export async function rotateKeys(context: KeyContext): Promise<PublishedSigningKey[]> {
  const current = await readKeys(context)
  const needed = current.keys.filter((key) => !isOver(context, current.keys, key))
  if (current.keys.some(({ keyPairId }) => keyPairId === undefined)) {
    return (await complete(context, current)).keys
  }
  if (needed.length >= SIGNING_KEYS_MAX) {
    throw new KeyChangeRefusedError(
      `a key group holds ${SIGNING_KEYS_MAX} keys and urls of all of them are still valid: wait until the oldest goes (cdn-key list), or remove it and end its urls (cdn-key remove)`,
    )
  }
  return (await complete(context, await addKey(context, current))).keys
}

/**
 * Removes a key that has been succeeded; the urls that it signed end.
 * @throws KeyChangeRefusedError when there is no such key, or it signs or will.
 */
export async function removeKey(context: KeyContext, keyPairId: string): Promise<PublishedSigningKey[]> {
  const current = await readKeys(context)
  const refusal = whyKeyStays(publishedKeys(current), keyPairId, context.nowMilliseconds())
  if (refusal !== undefined) {
    throw new KeyChangeRefusedError(refusal)
  }
  return (await complete(context, current, keyPairId)).keys
}

/** Every key that the CDN knows. */
export async function listKeys(context: KeyContext): Promise<PublishedSigningKey[]> {
  return publishedKeys(await readKeys(context))
}

/** Deletes the group and its keys; a private key goes when its public half is gone. */
export async function removeAll(context: KeyContext): Promise<void> {
  const current = await readKeys(context)
  const ids = new Set([...(await context.group.remove()), ...publishedKeys(current).map((key) => key.keyPairId)])
  const gone = new Set<string | undefined>()
  for (const id of ids) {
    if (await context.group.withdraw(id)) {
      gone.add(id)
    }
  }
  const left = current.keys.filter(({ keyPairId }) => keyPairId !== undefined && !gone.has(keyPairId))
  if (left.length < current.keys.length) {
    await writeKeys(context, current, left)
  }
}

/**
 * The key of a stack of version 0.1.0 has no id in the secret: CloudFormation made its public half, which is found by its
 * bytes and used on, because urls of the last seven days name it.
 */
async function readKeys({ secretsManager, secretArn, group, nowMilliseconds }: KeyContext): Promise<Keys> {
  const read = await readSecretVersion(secretsManager, secretArn)
  const { keys, privateKeyPem } = parseSigningKeySecret(read.text)
  if (keys.length > 0 || privateKeyPem === undefined) {
    return { read, keys }
  }
  const found = await group.findPublicKey(publicKeyOf(privateKeyPem))
  return { read, keys: [{ createdAt: nowMilliseconds(), ...found, privateKeyPem }] }
}

/** The private half is in the secret before the CDN hears of the key, so that a broken run leaves nothing behind. */
async function addKey(context: KeyContext, current: Keys): Promise<Keys> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: SIGNING_KEY_BITS })
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return await writeKeys(context, current, [...current.keys, { privateKeyPem, createdAt: context.nowMilliseconds() }])
}

/** Publishes what is not yet published, fills the group, withdraws what is over, and writes what has become of it all. */
async function complete(context: KeyContext, current: Keys, removedId?: string) {
  const { group, nowMilliseconds } = context
  const isLeaving = (key: StoredSigningKey) =>
    isOver(context, current.keys, key) || (removedId !== undefined && key.keyPairId === removedId)
  const staying = current.keys.filter((key) => !isLeaving(key))
  const leaving = publishedKeys({ keys: current.keys.filter(isLeaving) })
  const published: PublishedSigningKey[] = []
  for (const key of staying) {
    published.push({ ...key, keyPairId: key.keyPairId ?? (await group.publish(publicKeyOf(key.privateKeyPem))) })
  }
  const keyGroupId = await group.hold(published.map(({ keyPairId }) => keyPairId))
  for (const { keyPairId } of leaving) {
    await group.withdraw(keyPairId)
  }
  const isNew = new Set(staying.filter(({ keyPairId }) => keyPairId === undefined).map((key) => key.privateKeyPem))
  // The wait before a key signs begins when the group holds it, not when it was made.
  const keys = published.map((key) => (isNew.has(key.privateKeyPem) ? { ...key, createdAt: nowMilliseconds() } : key))
  if (isNew.size > 0 || leaving.length > 0) {
    await writeKeys(context, current, keys)
  }
  return { keyGroupId, keys }
}

function isOver({ nowMilliseconds }: KeyContext, keys: readonly StoredSigningKey[], { keyPairId }: StoredSigningKey) {
  const end = keyPairId === undefined ? undefined : neededUntil(publishedKeys({ keys }), { keyPairId })
  return end !== undefined && end <= nowMilliseconds()
}

async function writeKeys(
  { secretsManager, secretArn }: KeyContext,
  { read }: Keys,
  keys: readonly StoredSigningKey[],
): Promise<Keys> {
  const text = JSON.stringify({ keys })
  return { read: await replaceSecret(secretsManager, { secretId: secretArn, read, text }), keys }
}
