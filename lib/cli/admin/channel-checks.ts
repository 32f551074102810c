import { connect } from 'node:net'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type { Channel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { Switches } from '#core/catalogue/switches.ts'
import { credentialKind } from '#core/catalogue/upstream-auth.ts'
import { bareHostname } from '#core/http.ts'
import { type AllFigures, NO_CALLS } from '#core/measures.ts'
import { settingsOf, unservedModels } from '#lambdas/admin/switches.ts'
import { modelsWithoutChannel } from '../../config/load-gateway-config.ts'
import { type Finding, fine, warning, wrong } from '../findings.ts'
import { errorsText, settingsText } from './channels.ts'
import { missingKeys, parseSecretEntries } from './secrets.ts'

/** TCP to another continent takes a third of a second. */
const CONNECT_MILLISECONDS_MAX = 5_000

/**
 * Whether the upstream of each channel accepts a connection from this machine, the machine of a local host. Nothing is sent: a request
 * could cost money, and the metrics show how upstreams reply.
 */
export async function checkChannelConnections({ channels }: GatewayConfig): Promise<Finding[]> {
  const findings = await Promise.all(channels.map(checkConnection))
  const refused = findings.filter((finding) => finding !== undefined)
  return refused.length === 0
    ? [fine('connections', `the upstreams of all channels (${channels.length}) accept connections`)]
    : refused
}

async function checkConnection({ id, base_url }: GatewayConfig['channels'][number]): Promise<Finding | undefined> {
  const url = new URL(base_url)
  const { host, port, protocol } = url
  const usualPort = protocol === 'https:' ? 443 : 80
  try {
    await connectTo(bareHostname(url), port === '' ? usualPort : Number(port))
    return undefined
  } catch (error) {
    const reason = typeof error === 'object' && error !== null && 'code' in error ? error.code : String(error)
    const advice =
      'Check that the upstream runs and that its base_url is right; until then its models need another channel.'
    return wrong('connections', `channel ${id}: no connection to ${host} (${reason})`, advice)
  }
}

function connectTo(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    const end = (settle: () => void) => {
      socket.destroy()
      settle()
    }
    socket.setTimeout(CONNECT_MILLISECONDS_MAX, () => end(() => reject(new Error('no response in time'))))
    socket.once('connect', () => end(resolve))
    socket.once('error', (error) => end(() => reject(error)))
  })
}

/** Whether the channel secret has every entry that a channel's `api_key` names. Names only: no value is shown or kept. */
export async function checkChannelKeys(secretArn: string, { channels }: GatewayConfig): Promise<Finding[]> {
  const current = new GetSecretValueCommand({ SecretId: secretArn, VersionStage: 'AWSCURRENT' })
  const { SecretString } = await new SecretsManagerClient({}).send(current)
  const secret = parseSecretEntries(SecretString ?? '')
  if (secret === undefined) {
    const advice = 'Run `secret set NAME` for each name in `api_key`.'
    return [wrong('channel keys', 'the channel secret is not a JSON object of strings', advice)]
  }
  const missing = missingKeys(channels, secret)
  return missing.length === 0
    ? [fine('channel keys', `the keys of all channels (${channels.length}) are set`)]
    : missing.map(({ name, channel }) =>
        wrong('channel keys', `${name} of channel ${channel} is missing`, `Run \`secret set ${name}\`.`),
      )
}

/**
 * What each channel without a key is called with. A local host tells whether it has that; on AWS each instance gets its own.
 * @param states of a local host; undefined on AWS.
 */
export function checkCredentials(
  { channels }: GatewayConfig,
  states: AllFigures['credentials'],
): (Finding & { readonly credential: object })[] {
  return channels.flatMap((channel) => {
    const { id } = channel
    const kind = credentialKind(channel)
    if (kind !== 'aws' && kind !== 'workload_identity') {
      return []
    }
    const { expiresAt = null, problem = null } = states?.get(id) ?? {}
    const end = expiresAt === null ? null : new Date(expiresAt).toISOString()
    const what = kind === 'aws' ? 'signs with AWS credentials' : 'exchanges tokens of its role'
    const found =
      problem === null
        ? fine('credentials', `channel ${id} ${what}${end === null ? '' : `, valid until ${end}`}`)
        : wrong('credentials', `channel ${id} has no credentials: ${problem}`, CREDENTIAL_ADVICE)
    return [{ ...found, credential: { channel: id, kind, expires_at: end } }]
  })
}

const CREDENTIAL_ADVICE = 'See docs/configuration.md, "Channels without a key"; until then other channels serve.'

/** Whether the deployment has an upstream, and which channels operators have disabled. */
export function checkChannels({ channels }: GatewayConfig, switches: Switches): Finding[] {
  if (channels.length === 0) {
    const advice = 'Set the base urls of the upstreams and deploy again.'
    return [wrong('channels', 'the configuration has no channel, so every request is refused', advice)]
  }
  const disabled = channels.flatMap(({ id }) =>
    disabledByOperators(switches, { kind: 'channel', id }, 'gives it work again'),
  )
  return [fine('channels', channels.map(({ id }) => id).join(', ')), ...disabled]
}

function disabledByOperators(
  switches: Switches,
  target: Parameters<typeof settingsOf>[1],
  enabling: string,
): Finding[] {
  const { kind, id } = target
  const text = settingsText(settingsOf(switches, target).filter(({ value }) => value === 'disabled'))
  const advice = `\`${kind} enable ${id}\` ${enabling}.`
  return text === null ? [] : [warning(`${kind}s`, `${kind} ${id} is ${text}`, advice)]
}

/** Whether each model that clients may know has a channel, and one that is not disabled, and which models operators have disabled. */
export function checkModels(config: GatewayConfig, switches: Switches): Finding[] {
  const unserved = unservedModels(config, switches)
  const findings = [
    ...config.models.flatMap(({ id }) =>
      disabledByOperators(switches, { kind: 'model', id }, 'lets clients use it again'),
    ),
    ...(unserved === undefined
      ? []
      : [wrong('models', unserved, '`channel list` shows the channels and their switches.')]),
    ...modelsWithoutChannel(config).map((id) =>
      warning('models', `model ${id} is on no channel: clients do not see it`, 'Name it in `models` of a channel.'),
    ),
  ]
  return findings.length === 0 ? [fine('models', 'an enabled channel serves each of them')] : findings
}

/** Upstreams of which every call in the last minute failed, or whose breaker is open. Nothing is known of those without a call. */
export function checkUpstreams({ channels }: GatewayConfig, figures: AllFigures | undefined): Finding[] {
  if (figures?.minuteFrom === undefined) {
    return [fine('upstreams', 'no figures of the last minutes')]
  }
  const findings = channels.flatMap((channel) => failingUpstream(channel, figures))
  return findings.length === 0 ? [fine('upstreams', 'none fails every call')] : findings
}

function failingUpstream({ id, provider }: Pick<Channel, 'id' | 'provider'>, figures: AllFigures): Finding[] {
  const { byChannel, breakers } = figures
  const { calls, errors } = byChannel.get(id) ?? NO_CALLS
  const failed = Object.values(errors).reduce((sum, count) => sum + count, 0)
  const breaker = breakers?.get(id)
  const isOpen = breaker === 'open' || breaker === 'half_open'
  if (!isOpen && (calls === 0 || failed < calls)) {
    return []
  }
  const said =
    calls === 0 ? '' : `${calls} ${calls === 1 ? 'call' : 'calls'} in the last minute, errors ${errorsText(errors)}`
  const paused = isOpen ? `its breaker is ${breaker === 'open' ? 'open, for all tenants or for one' : 'half open'}` : ''
  const message = `channel ${id}: ${[said, paused].filter((part) => part !== '').join('; ')}`
  // Below the breaker, refusals alone may be about what one client sent.
  const isOfClients = !isOpen && breaker !== undefined && errors.http_4xx === failed
  return [(isOfClients ? warning : wrong)('upstreams', message, upstreamAdvice(provider))]
}

function upstreamAdvice(provider: string): string {
  const list = provider === 'openai' ? 'requests --failed' : 'job list --tenant ID --status failed'
  return `The log says why: \`channel refused\` (the key or the account), \`channel failed\` or \`channel busy\`; \`${list}\` shows those that no other channel served.`
}
