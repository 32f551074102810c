import type { AuditAction } from '#adapters/store/audit/audit-entry.ts'
import { DEFAULT_CONFIGURATION } from '../../config/load-gateway-config.ts'
import { nearestName } from '../../terminal/nearest-name.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { recordEffect } from '../audit/record-effect.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'
import { type ChannelKeyNames, channelKeyNames } from './channel-key-names.ts'
import { readSecretValue, type SecretInput } from './read-secret-value.ts'
import { changeSecretEntries, type NamedSecret, readSecretEntries, type SecretEntries } from './secret-entries.ts'

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
    const entries = await readSecretEntries(await channelSecret(context))
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
  async run(context, values): Promise<Answer> {
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
      'a local host reads the keys of its channels from its environment: set the variable of that name and restart the host',
    )
  }
  return { arn: await output('ChannelSecretArn'), name: 'channel secret' }
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
