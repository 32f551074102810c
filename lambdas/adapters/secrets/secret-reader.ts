import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod/mini'
import { once } from '../once.ts'

/** A secret's entry is missing: named, never shown. */
export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError'
}

/** How long a warm instance keeps a secret: a rotated key is used a few minutes later at the latest. */
const CACHE_MILLISECONDS = 5 * 60 * 1000

const entries = z.record(z.string(), z.string())
const client = once(() => new SecretsManagerClient({}))
const cache = new Map<string, { readAt: number; values: Promise<Record<string, string>> }>()

/**
 * Reads one entry of a JSON secret, once per instance and a few minutes.
 * @throws MissingSecretError when the secret has no such entry.
 */
export async function readSecretEntry(secretArn: string, entry: string): Promise<string> {
  const cached = cache.get(secretArn)
  const isFresh = cached !== undefined && Date.now() - cached.readAt < CACHE_MILLISECONDS
  const values = isFresh ? cached.values : fetchSecret(secretArn)
  const value = (await values)[entry]
  if (value === undefined || value === '') {
    throw new MissingSecretError(`the secret has no entry ${entry}`)
  }
  return value
}

function fetchSecret(secretArn: string): Promise<Record<string, string>> {
  const values = client()
    .send(new GetSecretValueCommand({ SecretId: secretArn }))
    .then(({ SecretString }) => entries.parse(JSON.parse(SecretString ?? '{}')))
  cache.set(secretArn, { readAt: Date.now(), values })
  values.catch(() => cache.delete(secretArn))
  return values
}
