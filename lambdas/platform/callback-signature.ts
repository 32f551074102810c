import { createHmac, randomBytes } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'

/** The length of a created secret; Standard Webhooks allows 24 to 64. */
const SECRET_BYTES = 32
const SECRET_BYTES_MIN = 24
const SECRET_BYTES_MAX = 64

/** The secret is not `whsec_` and the base64 of 24 to 64 bytes. The message does not hold it. */
export class InvalidWebhookSecretError extends Error {
  override readonly name = 'InvalidWebhookSecretError'
}

/** What the signature of a callback covers, and the secrets that sign it. */
export type CallbackToSign = {
  /** One secret, or two while the tenant's secret is rotated, so that a receiver with either can verify. */
  readonly secrets: readonly string[]
  /** `msg_` and the job id: the same for every callback of the job, so a receiver can drop repeats. */
  readonly id: string
  readonly timestampSeconds: number
  /** The bytes that are sent. */
  readonly body: string | Uint8Array
}

/** The headers of Standard Webhooks for the id, the time (Unix seconds) and the signatures. */
export type CallbackSignatureHeaders = {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** Creates the signing secret of a tenant: `whsec_` and the base64 of 32 random bytes. */
export function createWebhookSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`
}

/**
 * Signs a callback by Standard Webhooks 1.0: HMAC-SHA256 over id, timestamp and body, joined by dots. There is one signature per
 * secret, in their order, separated by spaces.
 * @throws InvalidWebhookSecretError when a secret does not have the form of {@link createWebhookSecret}.
 */
export function signCallback({ secrets, id, timestampSeconds, body }: CallbackToSign): CallbackSignatureHeaders {
  const timestamp = String(timestampSeconds)
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secretKey(secret)).update(`${id}.${timestamp}.`).update(body)
    return `v1,${hmac.digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

function secretKey(secret: string): Buffer {
  const encoded = secret.slice(SECRET_PREFIX.length)
  const key = Buffer.from(encoded, 'base64')
  const isBase64 = key.toString('base64').replaceAll('=', '') === encoded.replaceAll('=', '')
  const hasLength = key.length >= SECRET_BYTES_MIN && key.length <= SECRET_BYTES_MAX
  if (!secret.startsWith(SECRET_PREFIX) || !isBase64 || !hasLength) {
    throw new InvalidWebhookSecretError(`a webhook secret is "${SECRET_PREFIX}" and the base64 of 24 to 64 bytes`)
  }
  return key
}
