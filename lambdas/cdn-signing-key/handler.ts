import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import * as z from 'zod'

/** CloudFront accepts RSA keys of exactly this length for signed urls (or ECDSA P-256). */
const MODULUS_BITS = 2048
/** CloudFormation's presigned url answers in well under a second; a hang must leave time for Lambda's own retry. */
const RESPONSE_TIMEOUT_MILLISECONDS = 10_000
const PHYSICAL_RESOURCE_ID = 'cdn-signing-key'

/** The secret holds something that is neither empty nor a signing key. Never quotes what it holds. */
class UnexpectedSecretError extends Error {
  override readonly name = 'UnexpectedSecretError'
}

/** CloudFormation's answer url did not take the answer; Lambda then runs the event again. */
class ResponseNotTakenError extends Error {
  override readonly name = 'ResponseNotTakenError'
}

const propertiesSchema = z.object({ SecretArn: z.string().min(1) })
const storedSchema = z.object({ privateKeyPem: z.string().startsWith('-----BEGIN').optional() })

type Outcome =
  | { readonly Status: 'SUCCESS'; readonly Data: { readonly PublicKeyPem: string } | Record<string, never> }
  | { readonly Status: 'FAILED'; readonly Reason: string }

const secretsManager = new SecretsManagerClient({})

/**
 * CloudFormation custom resource: the key pair that signs video urls.
 * The private half is made here and goes nowhere but into the secret `SecretArn` (member `privateKeyPem`);
 * the attribute `PublicKeyPem` is what CloudFront verifies with.
 * A repeated or retried event finds the stored key and answers the same public key. Delete keeps everything.
 * @throws ResponseNotTakenError when CloudFormation could not be told.
 */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  const outcome = await run(event)
  await respond(event, outcome)
}

async function run(event: CloudFormationCustomResourceEvent): Promise<Outcome> {
  if (event.RequestType === 'Delete') {
    return { Status: 'SUCCESS', Data: {} }
  }
  try {
    const { SecretArn } = propertiesSchema.parse(event.ResourceProperties)
    const privateKeyPem = (await readPrivateKey(SecretArn)) ?? (await createPrivateKey(SecretArn, event.RequestId))
    return { Status: 'SUCCESS', Data: { PublicKeyPem: publicKeyOf(privateKeyPem) } }
  } catch (error) {
    // The name alone: a message of a parser or of OpenSSL may quote its input.
    const Reason = error instanceof Error ? error.name : 'UnknownError'
    console.error(JSON.stringify({ level: 'ERROR', message: 'no signing key', error: Reason }))
    return { Status: 'FAILED', Reason }
  }
}

/** @throws UnexpectedSecretError */
async function readPrivateKey(secretArn: string): Promise<string | undefined> {
  const { SecretString: text } = await secretsManager.send(new GetSecretValueCommand({ SecretId: secretArn }))
  const stored = storedSchema.safeParse(parseJson(text ?? '{}'))
  if (!stored.success) {
    throw new UnexpectedSecretError('the secret holds no signing key and is not empty')
  }
  return stored.data.privateKeyPem
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The request id as version token: two runs of one event cannot store two keys, the second reads the first's. */
async function createPrivateKey(secretArn: string, requestId: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: MODULUS_BITS })
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  try {
    await secretsManager.send(
      new PutSecretValueCommand({
        SecretId: secretArn,
        ClientRequestToken: requestId,
        SecretString: JSON.stringify({ privateKeyPem }),
      }),
    )
    return privateKeyPem
  } catch (error) {
    const stored = error instanceof ResourceExistsException ? await readPrivateKey(secretArn) : undefined
    if (stored === undefined) {
      throw error
    }
    return stored
  }
}

function publicKeyOf(privateKeyPem: string): string {
  return createPublicKey(privateKeyPem).export({ type: 'spki', format: 'pem' }).toString()
}

async function respond(event: CloudFormationCustomResourceEvent, outcome: Outcome): Promise<void> {
  const body = {
    ...outcome,
    PhysicalResourceId: 'PhysicalResourceId' in event ? event.PhysicalResourceId : PHYSICAL_RESOURCE_ID,
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
  }
  // Bytes, not a string: a string would add a content-type, which the presigned url's signature leaves out.
  const response = await fetch(event.ResponseURL, {
    method: 'PUT',
    body: new TextEncoder().encode(JSON.stringify(body)),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MILLISECONDS),
  })
  if (!response.ok) {
    throw new ResponseNotTakenError(`the answer was refused with status ${response.status}`)
  }
}
