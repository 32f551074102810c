import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import {
  type PublishedSigningKey,
  parseSigningKeySecret,
  publishedKeys,
  UnexpectedSigningSecretError,
} from '#adapters/cdn/signing-key-secret.ts'
import {
  readSecretVersion,
  replaceSecret,
  SecretChangedError,
  type SecretVersion,
} from '#adapters/secrets/replace-secret.ts'
import { describeKeys, SIGNING_KEYS_MAX, type SigningKeyView, whyKeyStays } from '#core/cdn-signing-keys.ts'
import type { AdminContext } from '../command-line/command.ts'
import { CommandFailedError, OutputNotFoundError } from '../command-line/command-failed-error.ts'

/** The signing keys of one stage. Each operation returns the resulting keys, oldest first. @throws CommandFailedError. */
export interface SigningKeyOperations {
  list(): Promise<readonly SigningKeyView[]>
  rotate(): Promise<readonly SigningKeyView[]>
  remove(keyPairId: string): Promise<readonly SigningKeyView[]>
  /** Adds a key that the team created, or replaces its private key. */
  add(key: { readonly keyPairId: string; readonly privateKeyPem: string }): Promise<readonly SigningKeyView[]>
}

/**
 * The signing keys of the stage: changed by its function, or in its secret if the team provides its own.
 * @throws CommandFailedError for a local host and for a stage without a CDN.
 */
export async function openSigningKeys(context: AdminContext): Promise<SigningKeyOperations> {
  if (context.local) {
    throw new CommandFailedError(
      'a local host has one key, the file cdn-key.pem of its data directory: to change it, stop the host and delete the file; earlier urls stop working',
    )
  }
  const secretArn = await outputIfAny(context, 'CdnSigningKeySecretArn')
  if (secretArn === undefined) {
    throw new CommandFailedError(`the stage ${context.stage} has no CDN: its video urls are signed by the bucket`)
  }
  const functionName = await outputIfAny(context, 'CdnSigningKeyFunctionName')
  return functionName === undefined ? broughtKeys(secretArn) : managedKeys(functionName)
}

/** An output that not every stage has. @throws DeploymentNotFoundError if the stack cannot be read. */
async function outputIfAny(context: AdminContext, name: string): Promise<string | undefined> {
  try {
    return await context.output(name)
  } catch (error) {
    if (error instanceof OutputNotFoundError) {
      return undefined
    }
    throw error
  }
}

const resultSchema = z.union([
  z.object({ refused: z.string() }),
  z.object({
    keys: z.array(
      z.object({
        keyPairId: z.string(),
        createdAt: z.number(),
        state: z.enum(['signs', 'next', 'verifies']),
        signsFrom: z.number(),
        neededUntil: z.nullable(z.number()),
      }),
    ),
  }),
])

/** Rotation needs permission to invoke the function, and no permission to read a private key. */
function managedKeys(functionName: string): SigningKeyOperations {
  const act = async (action: object): Promise<readonly SigningKeyView[]> => {
    const command = new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(action) })
    const { FunctionError, Payload } = await new LambdaClient({}).send(command)
    const result = resultSchema.safeParse(JSON.parse(Buffer.from(Payload ?? []).toString('utf8') || 'null'))
    if (FunctionError !== undefined || !result.success) {
      throw new CommandFailedError(`the function ${functionName} failed: its log says why; the command can be repeated`)
    }
    if ('refused' in result.data) {
      throw new CommandFailedError(result.data.refused)
    }
    return result.data.keys
  }
  return {
    list: () => act({ action: 'list' }),
    rotate: () => act({ action: 'rotate' }),
    remove: (keyPairId) => act({ action: 'remove', keyPairId }),
    async add() {
      throw new CommandFailedError('this stage creates its own keys: use cdn-key rotate')
    },
  }
}

/** Deployments add and remove the public keys; the secret holds only the private ones. */
function broughtKeys(secretArn: string): SigningKeyOperations {
  const client = new SecretsManagerClient({})
  const write = async (read: SecretVersion, keys: readonly PublishedSigningKey[]) => {
    try {
      await replaceSecret(client, { secretId: secretArn, read, text: JSON.stringify({ keys }) })
    } catch (error) {
      throw error instanceof SecretChangedError ? new CommandFailedError(error.message, { cause: error }) : error
    }
    return describeKeys(keys, Date.now())
  }
  return {
    list: async () => describeKeys((await readKeys(client, secretArn)).keys, Date.now()),
    async rotate() {
      throw new CommandFailedError(
        'the team provides the keys of this stage: deploy with another public key in -c cdnPublicKey, then use cdn-key import',
      )
    },
    async remove(keyPairId) {
      const { read, keys } = await readKeys(client, secretArn)
      const refusal = whyKeyStays(keys, keyPairId, Date.now())
      if (refusal !== undefined) {
        throw new CommandFailedError(refusal)
      }
      return await write(
        read,
        keys.filter((each) => each.keyPairId !== keyPairId),
      )
    },
    async add(key) {
      const { read, keys } = await readKeys(client, secretArn)
      const known = keys.find(({ keyPairId }) => keyPairId === key.keyPairId)
      const others = keys.filter((each) => each !== known)
      if (others.length >= SIGNING_KEYS_MAX) {
        throw new CommandFailedError(`there are ${SIGNING_KEYS_MAX} keys: remove the oldest with cdn-key remove`)
      }
      return await write(read, [...others, { ...key, createdAt: known?.createdAt ?? Date.now() }])
    },
  }
}

async function readKeys(client: SecretsManagerClient, secretArn: string) {
  const read = await readSecretVersion(client, secretArn)
  try {
    return { read, keys: publishedKeys(parseSigningKeySecret(read.text)) }
  } catch (error) {
    throw error instanceof UnexpectedSigningSecretError ? new CommandFailedError(error.message) : error
  }
}
