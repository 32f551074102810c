import type { Readable, Writable } from 'node:stream'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { credentialName } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { credentialKind } from '#core/catalogue/upstream-auth.ts'
import { nearestName } from '#core/nearest-name.ts'
import { readSecretVersion, replaceSecret, SecretChangedError } from '#platform/replace-secret.ts'
import type { AuditAction } from '#store/audit/audit-entry.ts'
import {
  configurationFile,
  DEFAULT_CONFIGURATION,
  GatewayConfigError,
  loadGatewayConfig,
  SIMULATOR,
} from '../../config/load-gateway-config.ts'
import { CommandFailedError, DeploymentNotFoundError, NotConfirmedError } from '../failures.ts'
import { formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import { recordEffect } from './audit.ts'
import type { AdminContext, Command } from './command.ts'
import { readDeployedConfig } from './deployed-config.ts'

/** Key names with the ids of the channels that use them. */
export type ChannelKeyNames = ReadonlyMap<string, readonly string[]>

/**
 * The key names of the deployed channels and of the configuration file, because a key is set before the deployment that needs it.
 * One of the two is enough.
 * @throws GatewayConfigError for an invalid file that was named.
 */
export async function channelKeyNames(context: AdminContext, file: string | undefined): Promise<ChannelKeyNames> {
  const names = new Map<string, string[]>()
  for (const config of [await deployedConfig(context), fileConfig(file)]) {
    for (const channel of config?.channels ?? []) {
      const name = credentialName(channel)
      if (name !== undefined) {
        names.set(name, [...new Set([...(names.get(name) ?? []), channel.id])])
      }
    }
  }
  return names
}

/** Undefined for a stage whose configuration this version cannot read. */
async function deployedConfig(context: AdminContext): Promise<GatewayConfig | undefined> {
  try {
    return await readDeployedConfig(context)
  } catch (error) {
    if (error instanceof DeploymentNotFoundError) {
      return undefined
    }
    throw error
  }
}

/** Simulated channels are left out, as in a deployment with this environment. */
function fileConfig(file: string | undefined): GatewayConfig | undefined {
  try {
    return loadGatewayConfig({ file: file ?? configurationFile(), environment: process.env, mode: 'synth' }).config
  } catch (error) {
    // A file that was not named may be missing or unfinished.
    if (error instanceof GatewayConfigError && file === undefined) {
      return undefined
    }
    throw error
  }
}

/** A terminal, a pipe or a file. A terminal can hide the typed characters. */
export type SecretInput = Readable & {
  readonly isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
}

type SecretQuestion = {
  /** The name of the value, shown in the prompt. */
  readonly name: string
  /** True if the value comes from a pipe. */
  readonly fromStdin: boolean
  readonly input: SecretInput
  /** Receives the prompt, never the value. */
  readonly output: Writable
}

/** Longer than the key of any upstream. */
const CHARACTERS_MAX = 4_096

/** What an HTTP header carries of a bearer key (RFC 9110, "Field Values", without spaces). */
const HEADER_TEXT = /^[\x21-\x7e]+$/

const END_OF_LINE = /[\r\n]/
const INTERRUPT = '\x03'
const END_OF_TYPING = '\x04'
const BACKSPACES: readonly string[] = ['\b', '\x7f']

/**
 * Reads a secret value from a pipe, without its last line break, or from a terminal that hides it. The value is never an argument, so
 * it appears in no shell history and no process list.
 * @throws UsageError if there is neither, and for a value that cannot be a key; NotConfirmedError if the person cancels.
 */
export async function readSecretValue({ name, fromStdin, input, output }: SecretQuestion): Promise<string> {
  if (!fromStdin && input.isTTY !== true) {
    throw new UsageError(`there is no terminal to prompt for ${name}: pipe the value in, with --value-from-stdin`)
  }
  const value = fromStdin ? await readPiped(input) : await readTyped({ name, input, output })
  if (value === '') {
    throw new UsageError(`the value of ${name} is empty`)
  }
  if (value.length > CHARACTERS_MAX || !HEADER_TEXT.test(value)) {
    throw new UsageError(
      `the value of ${name} is no key: one line of at most ${CHARACTERS_MAX} visible ASCII characters without spaces`,
    )
  }
  return value
}

async function readPiped(input: SecretInput): Promise<string> {
  let text = ''
  for await (const chunk of input) {
    text += String(chunk)
    if (text.length > 2 * CHARACTERS_MAX) {
      break
    }
  }
  return text.replace(/\r?\n$/, '')
}

async function readTyped({ name, input, output }: Omit<SecretQuestion, 'fromStdin'>): Promise<string> {
  output.write(`Value of ${name} (not shown): `)
  input.setRawMode?.(true)
  try {
    let typed = ''
    for await (const chunk of input) {
      for (const character of String(chunk)) {
        if (character === INTERRUPT) {
          throw new NotConfirmedError('nothing was changed')
        }
        if (END_OF_LINE.test(character) || character === END_OF_TYPING) {
          return typed
        }
        typed = BACKSPACES.includes(character) ? typed.slice(0, -1) : typed + character
      }
    }
    return typed
  } finally {
    input.setRawMode?.(false)
    output.write('\n')
  }
}

/** The entries of a secret that is a JSON object, such as upstream keys by the names in `api_key` of the channels. */
export type SecretEntries = Readonly<Record<string, string>>

/** A secret of a stage, with the words for it in errors: `channel secret`. */
export type NamedSecret = { readonly arn: string; readonly name: string }

/** Concurrent writers are few and quick: the loser reads again. */
const TRIES_MAX = 5

const secretEntries = z.record(z.string(), z.string())

/** Parses a secret; undefined if it is not a JSON object of strings. Errors never quote it. */
export function parseSecretEntries(text: string): SecretEntries | undefined {
  try {
    return secretEntries.safeParse(JSON.parse(text)).data
  } catch {
    // The parser's error would quote the secret.
    return undefined
  }
}

/** The names in `api_key` of channels with an upstream of their own that have no value, each with its channel. */
export function missingKeys(
  channels: GatewayConfig['channels'],
  entries: Readonly<Record<string, string | undefined>>,
): { readonly name: string; readonly channel: string }[] {
  return channels.flatMap((channel) => {
    const name = credentialName(channel)
    return name === undefined || channel.base_url === SIMULATOR || entries[name] ? [] : [{ name, channel: channel.id }]
  })
}

/** The entries of the channel secret of a stage. @throws CommandFailedError for a local host, which has none. */
export async function readChannelSecret(context: AdminContext): Promise<SecretEntries> {
  return await readSecretEntries(await channelSecret(context))
}

/** The current entries. @throws CommandFailedError for a secret that is not a JSON object of strings. */
export async function readSecretEntries(secret: NamedSecret): Promise<SecretEntries> {
  return (await readEntries(secret, new SecretsManagerClient({}))).entries
}

/**
 * Changes the current secret, whoever else changes it at the same time; `change` may therefore run several times.
 * @returns the entries before the change, and the id of the new version.
 * @throws CommandFailedError if others keep changing the secret, for a secret that is not a JSON object of strings, and what `change`
 * throws.
 */
export async function changeSecretEntries(
  secret: NamedSecret,
  change: (entries: SecretEntries) => SecretEntries,
): Promise<{ readonly before: SecretEntries; readonly versionId: string | undefined }> {
  const client = new SecretsManagerClient({})
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { read, entries } = await readEntries(secret, client)
    const text = JSON.stringify(change(entries))
    try {
      const { versionId } = await replaceSecret(client, { secretId: secret.arn, read, text })
      return { before: entries, versionId }
    } catch (error) {
      if (!(error instanceof SecretChangedError)) {
        throw error
      }
    }
  }
  throw new CommandFailedError(`another process keeps changing the ${secret.name}: try again`)
}

async function readEntries({ arn, name }: NamedSecret, client: SecretsManagerClient) {
  const read = await readSecretVersion(client, arn)
  const entries = parseSecretEntries(read.text)
  if (entries === undefined) {
    throw new CommandFailedError(`the ${name} is not a JSON object of strings: correct its value in Secrets Manager`)
  }
  return { read, entries }
}

const NAME = { name: 'NAME', summary: 'the name in `api_key` of a channel', required: true } as const
const CONFIG = { value: 'FILE', summary: `configuration file; ${DEFAULT_CONFIGURATION}` } as const

const WHEN =
  'A function whose key is missing or refused uses the new one within ten seconds, any other function within five minutes.'

/** Puts a channel's key into the channel secret. @throws UsageError, CommandFailedError. */
export const secretSet: Command = createSecretSet(() => process.stdin)

/** `secret set` with an input other than that of the process. */
export function createSecretSet(openInput: () => SecretInput): Command {
  return {
    name: 'secret set',
    summary: 'set the key of a channel in the channel secret',
    details: `The value comes from a hidden prompt or a pipe, never from an argument. ${WHEN}`,
    parameters: [NAME],
    options: {
      'value-from-stdin': { summary: 'read the value from a pipe, without one line break at its end' },
      config: CONFIG,
      force: { summary: 'accept a name that no channel uses, deployed or in the configuration' },
    },
    examples: ['secret set P1_API_KEY --stage prod', 'secret set P1_API_KEY --value-from-stdin --stage prod < key.txt'],
    async run(context, values) {
      const name = values.required('NAME')
      requireSecret(name, values.text('config'))
      requireName(name)
      const secret = await channelSecret(context)
      const names = await channelKeyNames(context, values.text('config'))
      if (!values.has('force')) {
        requireUsed(name, names)
      }
      const fromStdin = values.has('value-from-stdin')
      const value = await readSecretValue({ name, fromStdin, input: openInput(), output: process.stderr })
      const channels = names.get(name) ?? []
      const { [name]: stored } = await readSecretEntries(secret)
      if (stored === value) {
        return { json: { name, state: 'unchanged', channels }, text: `${name} has this value already` }
      }
      const was = stored === undefined ? 'missing' : 'set'
      await recordChange(context, { name, action: 'secret set', before: was, after: 'set', channels })
      const { before } = await changeSecretEntries(secret, (entries) => ({ ...entries, [name]: value }))
      const state = Object.hasOwn(before, name) ? 'replaced' : 'set'
      return { json: { name, state, channels }, text: `${name} is ${state}. ${WHEN}` }
    },
  }
}

/** Lists names, never values, with the channels that use them. */
export const secretList: Command = {
  name: 'secret list',
  summary: 'list the names in the channel secret, the channels that use them, and missing keys',
  details: 'Exit code 1 if a channel has no key.',
  options: { config: CONFIG },
  examples: ['secret list --stage prod'],
  async run(context, values) {
    const entries = await readChannelSecret(context)
    const names = await channelKeyNames(context, values.text('config'))
    const secrets = [...new Set([...names.keys(), ...Object.keys(entries)])].sort().map((name) => ({
      name,
      state: entries[name] ? (names.has(name) ? 'set' : 'unused') : 'missing',
      channels: names.get(name) ?? [],
    }))
    const rows = secrets.map(({ name, state, channels }) => [name, state, channels.join(',') || null])
    return {
      json: { secrets },
      text: secrets.length === 0 ? 'no channel needs a key' : formatTable(['NAME', 'STATE', 'CHANNELS'], rows),
      isOk: secrets.every(({ state }) => state !== 'missing'),
    }
  },
}

/** Removes a name from the channel secret. @throws CommandFailedError if it is not there. */
export const secretRemove: Command = {
  name: 'secret remove',
  summary: 'remove a key from the channel secret',
  details: 'The value cannot be recovered. Functions that have read it use it for up to five more minutes.',
  parameters: [NAME],
  options: { config: CONFIG },
  examples: ['secret remove OLD_API_KEY --stage prod'],
  async run(context, values): Promise<Output> {
    const name = values.required('NAME')
    const secret = await channelSecret(context)
    requireSet(name, await readSecretEntries(secret))
    const channels = (await channelKeyNames(context, values.text('config'))).get(name)
    const users = channels === undefined ? 'no channel uses it' : `it is the key of ${channels.join(', ')}`
    await context.confirm(`${name} will be removed from the channel secret of ${context.stage}; ${users}`)
    const change = { action: 'secret remove', before: 'set', after: 'missing', channels: channels ?? [] } as const
    await recordChange(context, { name, ...change })
    await changeSecretEntries(secret, (entries) => {
      requireSet(name, entries)
      return Object.fromEntries(Object.entries(entries).filter(([each]) => each !== name))
    })
    return { json: { name, state: 'removed' }, text: `${name} is removed` }
  },
}

type SecretChange = {
  readonly name: string
  readonly action: AuditAction
  readonly before: 'set' | 'missing'
  readonly after: 'set' | 'missing'
  readonly channels: readonly string[]
}

/** Recorded before the change, because the earlier value is lost with it. The value and its digest are not recorded. */
async function recordChange(
  context: AdminContext,
  { name, action, before, after, channels }: SecretChange,
): Promise<void> {
  const target = { kind: 'secret', id: name } as const
  await recordEffect(context, { action, target, before: { state: before }, after: { state: after, channels } })
}

/** @throws CommandFailedError for a local host, which has no channel secret. */
async function channelSecret({ local, output }: AdminContext): Promise<NamedSecret> {
  if (local) {
    throw new CommandFailedError(
      'a local host reads the keys of its channels from its environment: set the variables that their `api_key` names, and restart the host',
    )
  }
  return { arn: await output('ChannelSecretArn'), name: 'channel secret' }
}

/** Refuses the id of a channel that has no secret. @throws UsageError */
function requireSecret(name: string, file: string | undefined): void {
  const channel = fileConfig(file)?.channels.find(({ id }) => id === name)
  const kind = channel && credentialKind(channel)
  if (kind === 'aws' || kind === 'workload_identity') {
    const how = kind === 'aws' ? 'signed by the role of the functions' : 'authorised by tokens of their role'
    throw new UsageError(`the channel ${name} has no secret: its requests are ${how}`)
  }
}

/** Requires the form that the configuration requires. The error does not repeat the word, which may be a key in the wrong place. */
function requireName(name: string): void {
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) {
    throw new UsageError('NAME must be in capitals, such as P1_API_KEY; the value comes from a prompt or a pipe')
  }
}

function requireUsed(name: string, names: ChannelKeyNames): void {
  if (names.has(name)) {
    return
  }
  const nearest = nearestName(name, names.keys())
  const known = [...names.keys()].sort().join(', ') || 'none'
  const hint = nearest === undefined ? `they use ${known}` : `did you mean ${nearest}?`
  throw new UsageError(`no channel uses the name ${name}, deployed or in the configuration; ${hint} (--force sets it)`)
}

function requireSet(name: string, entries: SecretEntries): void {
  if (!Object.hasOwn(entries, name)) {
    throw new CommandFailedError(`the channel secret has no ${name}`)
  }
}
