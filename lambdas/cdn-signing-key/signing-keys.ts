import { generateKeyPairSync } from 'node:crypto'
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { neededUntil, SIGNING_KEY_BITS, SIGNING_KEYS_MAX, whyKeyStays } from '#core/cdn-signing-keys.ts'
import {
  type PublishedSigningKey,
  parseSigningKeySecret,
  publicKeyOf,
  publishedKeys,
  type StoredSigningKey,
} from '#platform/cdn/signing-key-secret.ts'
import { readSecretVersion, replaceSecret, type SecretVersion } from '#platform/replace-secret.ts'
import type { KeyGroup } from './key-group.ts'

/** An action is not possible now; the message is for the operator. */
export class KeyChangeRefusedError extends Error {
  override readonly name = 'KeyChangeRefusedError'
}

/** The dependencies of a change. */
export type KeyContext = {
  readonly secretsManager: SecretsManagerClient
  readonly secretArn: string
  readonly group: KeyGroup
  /** Unix time. */
  readonly nowMilliseconds: () => number
}

type Keys = { readonly read: SecretVersion; readonly keys: readonly StoredSigningKey[] }

/**
 * Ensures that a key exists, that CloudFront has every key of the secret, and that the group holds them. A repeated call
 * continues the work of an incomplete one.
 * @returns the id of the group.
 */
export async function ensureKeys(context: KeyContext): Promise<string> {
  const current = await readKeys(context)
  const some = current.keys.length === 0 ? await addKey(context, current) : current
  return (await complete(context, some)).keyGroupId
}

/**
 * Adds a key, which signs once every edge knows it, and removes the keys that no valid url needs any longer. An incomplete
 * rotation is completed instead.
 * @throws KeyChangeRefusedError if the group is full of keys that are still needed.
 * @throws SecretChangedError after a concurrent change; the call can be repeated.
 */
export async function rotateKeys(context: KeyContext): Promise<PublishedSigningKey[]> {
  const current = await readKeys(context)
  const needed = current.keys.filter((key) => !isOver(context, current.keys, key))
  if (current.keys.some(({ keyPairId }) => keyPairId === undefined)) {
    return (await complete(context, current)).keys
  }
  if (needed.length >= SIGNING_KEYS_MAX) {
    throw new KeyChangeRefusedError(
      `the key group holds ${SIGNING_KEYS_MAX} keys, the most that CloudFront allows, and all have valid urls: wait until the oldest expires (cdn-key list), or remove it and its urls (cdn-key remove)`,
    )
  }
  return (await complete(context, await addKey(context, current))).keys
}

/**
 * Removes a key that no longer signs, which invalidates its urls.
 * @throws KeyChangeRefusedError if the key does not exist, signs, or will sign.
 */
export async function removeKey(context: KeyContext, keyPairId: string): Promise<PublishedSigningKey[]> {
  const current = await readKeys(context)
  const refusal = whyKeyStays(publishedKeys(current.keys), keyPairId, context.nowMilliseconds())
  if (refusal !== undefined) {
    throw new KeyChangeRefusedError(refusal)
  }
  return (await complete(context, current, keyPairId)).keys
}

/** Every key that CloudFront has. */
export async function listKeys(context: KeyContext): Promise<PublishedSigningKey[]> {
  return publishedKeys((await readKeys(context)).keys)
}

/** Deletes the group and its keys. A private key is deleted after its public key. */
export async function removeAll(context: KeyContext): Promise<void> {
  const current = await readKeys(context)
  const ids = new Set([...(await context.group.remove()), ...publishedKeys(current.keys).map((key) => key.keyPairId)])
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

async function readKeys({ secretsManager, secretArn }: KeyContext): Promise<Keys> {
  const read = await readSecretVersion(secretsManager, secretArn)
  return { read, keys: parseSigningKeySecret(read.text) }
}

/** Stores the private key before CloudFront gets the public key, so that an incomplete run leaves no unknown key there. */
async function addKey(context: KeyContext, current: Keys): Promise<Keys> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: SIGNING_KEY_BITS })
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return await writeKeys(context, current, [...current.keys, { privateKeyPem, createdAt: context.nowMilliseconds() }])
}

/** Publishes new keys, updates the group, withdraws expired keys, and stores the result. */
async function complete(context: KeyContext, current: Keys, removedId?: string) {
  const { group, nowMilliseconds } = context
  const isLeaving = (key: StoredSigningKey) =>
    isOver(context, current.keys, key) || (removedId !== undefined && key.keyPairId === removedId)
  const staying = current.keys.filter((key) => !isLeaving(key))
  const leaving = publishedKeys(current.keys.filter(isLeaving))
  const published: PublishedSigningKey[] = []
  for (const key of staying) {
    published.push({ ...key, keyPairId: key.keyPairId ?? (await group.publish(publicKeyOf(key.privateKeyPem))) })
  }
  const keyGroupId = await group.hold(published.map(({ keyPairId }) => keyPairId))
  for (const { keyPairId } of leaving) {
    await group.withdraw(keyPairId)
  }
  const isNew = new Set(staying.filter(({ keyPairId }) => keyPairId === undefined).map((key) => key.privateKeyPem))
  // The wait before a key signs begins when the group holds it, not when it was generated.
  const keys = published.map((key) => (isNew.has(key.privateKeyPem) ? { ...key, createdAt: nowMilliseconds() } : key))
  if (isNew.size > 0 || leaving.length > 0) {
    await writeKeys(context, current, keys)
  }
  return { keyGroupId, keys }
}

function isOver({ nowMilliseconds }: KeyContext, keys: readonly StoredSigningKey[], { keyPairId }: StoredSigningKey) {
  const end = keyPairId === undefined ? undefined : neededUntil(publishedKeys(keys), { keyPairId })
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
