import { randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import { credentialName } from '#core/catalogue/catalogue.ts'
import type { Channel } from '#core/catalogue/channel.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { callAwsService } from './aws/call-aws-service.ts'
import { retryOnContention } from './aws/retry-on-contention.ts'
import { once } from './cache.ts'
import { environmentVariable } from './configuration.ts'
import { isSameString } from './crypto.ts'

/** An entry of a secret is missing. The message names the entry and never shows a value. */
export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError'
}

/** How long a warm instance uses a secret before it reads again: the longest delay before a change is noticed. */
const CACHE_MILLISECONDS = 5 * 60 * 1000

/**
 * The shortest time between two reads of one secret by one instance. It bounds how long a filled entry or a replaced key stays
 * unnoticed; a key that stays refused costs six reads a minute, however many requests need it.
 */
const RECHECK_MILLISECONDS = 10_000

const entries = z.record(z.string(), z.string())
const secretValue = z.object({ SecretString: z.optional(z.string()) })

type Reading = { readonly askedAt: number; readonly freshUntil: number; readonly text: Promise<string> }
const cache = new Map<string, Reading>()

/** How old a value may be. `cached`: minutes. `rechecked`: seconds. */
type Freshness = 'cached' | 'rechecked'

/**
 * Reads the value of a secret, once per instance and a few minutes. Throttling and faults of the service are retried, and a
 * known value stays in use while it cannot be read again.
 * @throws ServiceUnavailableError when the service stays unreachable; AwsServiceError when it refuses.
 */
export async function readSecretText(secretArn: string, freshness: Freshness = 'cached'): Promise<string> {
  const cached = cache.get(secretArn)
  const isFresh = cached !== undefined && Date.now() < freshUntil(cached, freshness)
  return await (isFresh ? cached.text : fetchSecret(secretArn, cached))
}

function freshUntil(reading: Reading, freshness: Freshness): number {
  return freshness === 'cached' ? reading.freshUntil : reading.askedAt + RECHECK_MILLISECONDS
}

/**
 * Reads one entry of a JSON secret whose fields are strings. A missing entry is read again after a few seconds.
 * @throws MissingSecretError when the secret has no such entry, or an empty one.
 * @throws as {@link readSecretText}
 */
export async function readSecretEntry(secretArn: string, entry: string): Promise<string> {
  return (await findEntry(secretArn, entry, 'cached')) ?? (await rereadSecretEntry(secretArn, entry))
}

/**
 * Reads the entry as it is now, or was a few seconds ago.
 * @throws as {@link readSecretEntry}
 */
export async function rereadSecretEntry(secretArn: string, entry: string): Promise<string> {
  const value = await findEntry(secretArn, entry, 'rechecked')
  if (value === undefined) {
    throw new MissingSecretError(`the secret has no entry ${entry}`)
  }
  return value
}

async function findEntry(secretArn: string, entry: string, freshness: Freshness): Promise<string | undefined> {
  return (await readSecretEntries(secretArn, freshness))[entry] || undefined
}

/**
 * Reads every entry of a JSON secret whose fields are strings.
 * @throws MissingSecretError when the secret is something else.
 * @throws as {@link readSecretText}
 */
export async function readSecretEntries(
  secretArn: string,
  freshness: Freshness = 'cached',
): Promise<Readonly<Record<string, string>>> {
  return parseEntries(await readSecretText(secretArn, freshness))
}

function fetchSecret(secretArn: string, previous: Reading | undefined): Promise<string> {
  const askedAt = Date.now()
  const text = readSecret(secretArn).catch((error: unknown) => {
    if (previous === undefined) {
      cache.delete(secretArn)
      throw error
    }
    // The known value is most likely still right; the next read comes soon.
    cache.set(secretArn, { askedAt, freshUntil: askedAt + RECHECK_MILLISECONDS, text: previous.text })
    return previous.text
  })
  cache.set(secretArn, { askedAt, freshUntil: askedAt + CACHE_MILLISECONDS, text })
  return text
}

async function readSecret(secretArn: string): Promise<string> {
  // This is the default on AWS, but emulators may default to the version that was put first.
  const body = JSON.stringify({ SecretId: secretArn, VersionStage: 'AWSCURRENT' })
  const read = () => callAwsService({ service: 'secretsmanager', target: 'secretsmanager.GetSecretValue', body })
  const { SecretString } = secretValue.parse(await retryOnContention(read))
  return SecretString ?? '{}'
}

/** The parser's error would quote the secret. */
function parseEntries(text: string): Record<string, string> {
  try {
    return entries.parse(parseJsonText(text))
  } catch {
    throw new MissingSecretError('the secret is not a JSON object of strings')
  }
}

/**
 * Whether a value is a secret of the front door: `current`, or `previous` while one is replaced. After a value that is none, the
 * secret is read again, at most every ten seconds, because it may have been replaced.
 * @throws MissingSecretError, ServiceUnavailableError, AwsServiceError when the secret cannot be read.
 */
export async function isFrontDoor(secretArn: string, value: string | undefined): Promise<boolean> {
  if (value === undefined || value === '') {
    return false
  }
  return (
    isOneOf(await frontDoorValues(secretArn, 'cached'), value) ||
    isOneOf(await frontDoorValues(secretArn, 'rechecked'), value)
  )
}

/**
 * The secrets that seal what browsers keep and nobody may read or change, the current one first: those of the front door, which all instances
 * know; on a local host, whose process is one, a secret of its own.
 * @throws as {@link isFrontDoor}.
 */
export async function sealingSecrets(): Promise<readonly string[]> {
  const secretArn = process.env.FRONT_DOOR_SECRET_ARN
  return secretArn ? await frontDoorValues(secretArn, 'cached') : [ownSecret()]
}

const ownSecret = once(() => randomBytes(32).toString('base64url'))

/** The secrets of the front door, the current one first. @throws as {@link isFrontDoor}. */
async function frontDoorValues(secretArn: string, freshness: Freshness): Promise<readonly string[]> {
  const { current, previous } = await readSecretEntries(secretArn, freshness)
  return [current ?? '', previous ?? ''].filter((value) => value !== '')
}

function isOneOf(values: readonly string[], value: string): boolean {
  return values.some((known) => isSameString(known, value))
}

/** The key for an upstream without a configured one. Simulators accept any. */
const NO_KEY = 'none'

/**
 * Reads the key of a channel: from the channel secret where there is one (AWS), or else from an environment variable (local).
 * @throws MissingSecretError or MissingEnvironmentError when the key is configured and missing.
 */
export async function channelCredential(channel: Channel): Promise<string> {
  const name = credentialName(channel)
  if (name === undefined) {
    return NO_KEY
  }
  const secretArn = process.env.CHANNEL_SECRET_ARN
  return secretArn === undefined ? environmentVariable(name) : await readSecretEntry(secretArn, name)
}

/** How long a refused request waits for the new key. Within a region a read takes some milliseconds. */
const RENEWAL_MILLISECONDS_MAX = 3_000

/**
 * Reads the key that has replaced a refused one; undefined when there is none, or it cannot be read in time. The secret is read
 * again for this, at most every few seconds. Never rejects.
 */
export async function renewedCredential(
  channel: Channel,
  refused: string,
  millisecondsMax = RENEWAL_MILLISECONDS_MAX,
): Promise<string | undefined> {
  const name = credentialName(channel)
  const secretArn = process.env.CHANNEL_SECRET_ARN
  if (name === undefined || secretArn === undefined) {
    return undefined
  }
  const key = await soonOrNever(rereadSecretEntry(secretArn, name), millisecondsMax)
  return key === refused ? undefined : key
}

/** What replaces a refused credential; undefined if that fails, or takes longer than a request waits for it. */
export async function soonOrNever<Value>(
  replacement: Promise<Value>,
  millisecondsMax = RENEWAL_MILLISECONDS_MAX,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(millisecondsMax, RENEWAL_MILLISECONDS_MAX))
  })
  try {
    return await Promise.race([replacement, tooLate])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
