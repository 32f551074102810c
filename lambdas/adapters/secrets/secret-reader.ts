import * as z from 'zod/mini'
import { callAwsService } from '../aws-json/call-aws-service.ts'
import { isContention, retryConflicts } from '../stores/conflict-retry.ts'

/** A secret's entry is missing: named, never shown. */
export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError'
}

/** How long a warm instance keeps a secret: a rotated key is used a few minutes later at the latest. */
const CACHE_MILLISECONDS = 5 * 60 * 1000

const entries = z.record(z.string(), z.string())
const secretValue = z.object({ SecretString: z.optional(z.string()) })
const cache = new Map<string, { readAt: number; values: Promise<Record<string, string>> }>()

/**
 * Reads one entry of a JSON secret, once per instance and a few minutes. Throttling and faults of the service are waited out.
 * @throws MissingSecretError when the secret has no such entry.
 * @throws ServiceUnavailableError when the service stays out of reach; AwsServiceError when it refuses.
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
  const values = readSecret(secretArn)
  cache.set(secretArn, { readAt: Date.now(), values })
  values.catch(() => cache.delete(secretArn))
  return values
}

async function readSecret(secretArn: string): Promise<Record<string, string>> {
  const body = JSON.stringify({ SecretId: secretArn })
  const read = () => callAwsService({ service: 'secretsmanager', target: 'secretsmanager.GetSecretValue', body })
  const { SecretString } = secretValue.parse(await retryConflicts(read, isContention))
  return parseEntries(SecretString ?? '{}')
}

/** An error of a parser would quote the secret. */
function parseEntries(text: string): Record<string, string> {
  try {
    return entries.parse(JSON.parse(text))
  } catch {
    throw new MissingSecretError('the secret is not a JSON object of strings')
  }
}
