import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { readSecretVersion, replaceSecret, SecretChangedError } from '#adapters/secrets/replace-secret.ts'
import { DEFAULT_CONFIGURATION } from '../../config/configuration-file.ts'
import { nearestName } from '../../terminal/nearest-name.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'
import { type ChannelKeyNames, channelKeyNames } from './channel-key-names.ts'
import { type ChannelSecret, parseChannelSecret } from './channel-secret.ts'
import { readSecretValue, type SecretInput } from './read-secret-value.ts'

/** Writers that meet are few and quick: whoever loses reads again. */
const TRIES_MAX = 5

const NAME = { name: 'NAME', summary: 'the name that `api_key` of a channel has', required: true } as const
const CONFIG = { value: 'FILE', summary: `the configuration; ${DEFAULT_CONFIGURATION}` } as const

const WHEN =
  'A function uses it at its next call where the key was missing or is refused (it looks again every ten seconds), and after five minutes at the latest.'

/** Puts a channel's key into the channel secret. @throws UsageError, CommandFailedError. */
export const secretSet: Command = createSecretSet(() => process.stdin)

/** `secret set` over another input than the process's own. */
export function createSecretSet(openInput: () => SecretInput): Command {
  return {
    name: 'secret set',
    summary: 'put the key of a channel into the channel secret',
    details: `The value is asked for without being shown, or piped in; it is never an argument. ${WHEN}`,
    parameters: [NAME],
    options: {
      'value-from-stdin': { summary: 'read the value from a pipe; one line break at its end is not part of it' },
      config: CONFIG,
      force: { summary: 'take a name that no channel uses, deployed or in the configuration' },
    },
    examples: ['secret set P1_API_KEY --stage prod', 'secret set P1_API_KEY --value-from-stdin --stage prod < key.txt'],
    async run(context, values) {
      const name = values.required('NAME')
      requireName(name)
      const secretArn = await channelSecretArn(context)
      const names = await channelKeyNames(context, values.text('config'))
      if (!values.has('force')) {
        requireUsed(name, names)
      }
      const fromStdin = values.has('value-from-stdin')
      const value = await readSecretValue({ name, fromStdin, input: openInput(), output: process.stderr })
      const had = await changeEntries(secretArn, (entries) => ({ ...entries, [name]: value }))
      const state = Object.hasOwn(had, name) ? 'replaced' : 'set'
      return { json: { name, state, channels: names.get(name) ?? [] }, text: `${name} is ${state}. ${WHEN}` }
    },
  }
}

/** Names, never values, with the channels that use them. */
export const secretList: Command = {
  name: 'secret list',
  summary: 'list the names in the channel secret, the channels that use them, and what is missing',
  details: 'Exit code 1 when a channel has no key.',
  options: { config: CONFIG },
  examples: ['secret list --stage prod'],
  async run(context, values) {
    const { entries } = await readEntries(await channelSecretArn(context))
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

/** Takes a name out of the channel secret. @throws CommandFailedError when it is not there. */
export const secretRemove: Command = {
  name: 'secret remove',
  summary: 'take a key out of the channel secret',
  details: 'The value cannot be read back. Instances that have read it use it for up to five minutes more.',
  parameters: [NAME],
  options: { config: CONFIG },
  examples: ['secret remove OLD_API_KEY --stage prod'],
  async run(context, values): Promise<Answer> {
    const name = values.required('NAME')
    const secretArn = await channelSecretArn(context)
    requireSet(name, (await readEntries(secretArn)).entries)
    const channels = (await channelKeyNames(context, values.text('config'))).get(name)
    const users = channels === undefined ? 'no channel uses it' : `it is the key of ${channels.join(', ')}`
    await context.confirm(`${name} is taken out of the channel secret of ${context.stage}; ${users}`)
    await changeEntries(secretArn, (entries) => {
      requireSet(name, entries)
      return Object.fromEntries(Object.entries(entries).filter(([each]) => each !== name))
    })
    return { json: { name, state: 'removed' }, text: `${name} is removed` }
  },
}

/** @throws CommandFailedError for a local host, whose keys are not in a secret. */
async function channelSecretArn({ local, output }: AdminContext): Promise<string> {
  if (local) {
    throw new CommandFailedError(
      'a local host takes the keys of its channels from its environment: set the variable of that name and start it anew',
    )
  }
  return await output('ChannelSecretArn')
}

/** As the configuration writes it. The word is not repeated: it may be a key in the wrong place. */
function requireName(name: string): void {
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) {
    throw new UsageError('NAME is written in capitals, such as P1_API_KEY; the value is asked for or piped in')
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

function requireSet(name: string, entries: ChannelSecret): void {
  if (!Object.hasOwn(entries, name)) {
    throw new CommandFailedError(`the channel secret has no ${name}`)
  }
}

/** @throws CommandFailedError for a secret that was written by hand and is no JSON object of strings; it is not quoted. */
async function readEntries(secretId: string, client = new SecretsManagerClient({})) {
  const read = await readSecretVersion(client, secretId)
  const entries = parseChannelSecret(read.text)
  if (entries === undefined) {
    throw new CommandFailedError('the channel secret is not a JSON object of strings: write it anew, such as {}')
  }
  return { read, entries }
}

/**
 * Changes the secret as it is at that moment, whoever else changes it, and answers what it was.
 * @throws CommandFailedError when others keep changing it.
 */
async function changeEntries(
  secretId: string,
  change: (entries: ChannelSecret) => ChannelSecret,
): Promise<ChannelSecret> {
  const client = new SecretsManagerClient({})
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { read, entries } = await readEntries(secretId, client)
    try {
      await replaceSecret(client, { secretId, read, text: JSON.stringify(change(entries)) })
      return entries
    } catch (error) {
      if (!(error instanceof SecretChangedError)) {
        throw error
      }
    }
  }
  throw new CommandFailedError('somebody else keeps changing the channel secret: try again')
}
