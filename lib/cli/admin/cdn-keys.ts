import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CloudFrontClient, GetPublicKeyCommand, NoSuchPublicKey } from '@aws-sdk/client-cloudfront'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { describeKeys, SIGNING_KEYS_MAX, type SigningKeyView, whyKeyStays } from '#core/cdn-signing-keys.ts'
import {
  type PublishedSigningKey,
  parseSigningKeySecret,
  publicKeyOf,
  publishedKeys,
  UnexpectedSigningSecretError,
} from '#platform/cdn/signing-key-secret.ts'
import { readSecretVersion, replaceSecret, SecretChangedError, type SecretVersion } from '#platform/replace-secret.ts'
import type { AuditAction } from '#store/audit/audit-entry.ts'
import { CommandFailedError, OutputNotFoundError } from '../failures.ts'
import { formatTable, type Output } from '../output.ts'
import { recordEffect } from './audit.ts'
import type { AdminContext, Command } from './command.ts'

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

const KEY_PAIR_ID = { value: 'ID', summary: "CloudFront's id of the key", required: true } as const

/** Lists the keys of video urls without their private keys. @throws CommandFailedError. */
export const cdnKeyList: Command = {
  name: 'cdn-key list',
  summary: 'list the keys of video urls: the one that signs, and how long the others are needed',
  details: `next: known to the CDN, signs from the time shown. signs: signs all new urls. verifies: its urls are valid until the time shown.`,
  examples: ['cdn-key list --stage prod'],
  run: async (context) => describe(await (await openSigningKeys(context)).list()),
}

/** Creates a key beside the old one. @throws CommandFailedError if CloudFront has no room for it, or the team provides its own keys. */
export const cdnKeyRotate: Command = {
  name: 'cdn-key rotate',
  summary: 'create a key for video urls, which signs after 15 minutes',
  details: `Nothing breaks: the old key goes on to verify the urls that it signed. Keys that no valid url needs any more, eight days
after their successor began to sign, are removed.`,
  examples: ['cdn-key rotate --stage prod'],
  async run(context) {
    const keys = await (await openSigningKeys(context)).rotate()
    const newest = keys.toSorted((left, right) => right.createdAt - left.createdAt)[0]
    if (newest !== undefined) {
      await recordKey(context, { action: 'cdn-key rotate', keyPairId: newest.keyPairId, after: newest.state })
    }
    return describe(keys)
  },
}

/** Removes a key before its urls expire, as after a leak. @throws CommandFailedError for a key that signs. */
export const cdnKeyRemove: Command = {
  name: 'cdn-key remove',
  summary: 'remove a key of video urls at once, as after a leak; its urls stop working',
  details: `A key that signs, or is about to, is refused: rotate first, and remove the old one 15 minutes later. Clients get a fresh
url by asking for the job again.`,
  options: { 'key-pair-id': KEY_PAIR_ID },
  examples: ['cdn-key remove --key-pair-id K2JCJMDEHXQW5F --stage prod'],
  async run(context, values) {
    const keys = await openSigningKeys(context)
    const keyPairId = values.required('key-pair-id')
    await context.confirm(
      `The key ${keyPairId} of ${context.stage} will be removed; its urls stop working within minutes`,
    )
    const left = await keys.remove(keyPairId)
    await recordKey(context, { action: 'cdn-key remove', keyPairId, before: 'verifies' })
    return describe(left)
  },
}

/** Imports the private key of a key pair that the team created. @throws CommandFailedError if it does not match. */
export const cdnKeyImport: Command = {
  name: 'cdn-key import',
  summary: 'store the private key of a key pair that the team created',
  details: `For stages that were deployed with -c cdnPublicKey: the file is checked against CloudFront's public key of that id. The first
key signs at once, a further one after 15 minutes. Deploy its public half first, and delete the file afterwards.`,
  options: {
    'key-pair-id': KEY_PAIR_ID,
    'private-key-file': { value: 'FILE', summary: 'RSA private key in PEM, without a passphrase', required: true },
  },
  examples: ['cdn-key import --key-pair-id K2JCJMDEHXQW5F --private-key-file private.pem --stage prod'],
  async run(context, values) {
    const keys = await openSigningKeys(context)
    const keyPairId = values.required('key-pair-id')
    const startedAt = Date.now()
    const after = await importSigningKey(keys, { keyPairId, file: values.required('private-key-file') })
    const stored = after.find((key) => key.keyPairId === keyPairId)
    // A key that is imported again stays as old as it is.
    if (stored !== undefined && stored.createdAt >= startedAt) {
      await recordKey(context, { action: 'cdn-key import', keyPairId, after: stored.state })
    }
    return describe(after)
  },
}

type KeyChange = {
  readonly action: AuditAction
  readonly keyPairId: string
  readonly before?: string
  readonly after?: string
}

/** Recorded after the change, because the function or CloudFront may refuse the change, and a rotation chooses the id. */
async function recordKey(context: AdminContext, { action, keyPairId, before, after }: KeyChange): Promise<void> {
  await recordEffect(context, {
    action,
    target: { kind: 'cdn-key', id: keyPairId },
    before: before === undefined ? null : { state: before },
    after: after === undefined ? null : { state: after },
  })
}

function describe(keys: readonly SigningKeyView[]): Output {
  const shown = keys.map(({ keyPairId, state, createdAt, signsFrom, neededUntil }) => ({
    key_pair_id: keyPairId,
    state,
    created_at: isoTimeInSeconds(createdAt),
    signs_from: state === 'next' ? isoTimeInSeconds(signsFrom) : null,
    needed_until: neededUntil === null ? null : isoTimeInSeconds(neededUntil),
  }))
  const rows = shown.map((key) => [key.key_pair_id, key.state, key.created_at, key.signs_from, key.needed_until])
  const header = ['KEY PAIR', 'STATE', 'CREATED', 'SIGNS FROM', 'NEEDED UNTIL']
  return {
    json: { keys: shown },
    text: shown.length === 0 ? 'there is no key: video urls cannot be signed' : formatTable(header, rows),
  }
}

function isoTimeInSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+/, '')
}
