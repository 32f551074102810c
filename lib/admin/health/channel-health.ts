import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { credentialName } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { parseSecretEntries } from '../secrets/secret-entries.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** Whether the channel secret has every entry that a channel's `api_key` names. Names only: no value is shown or kept. */
export async function checkChannelKeys(secretArn: string, { channels }: GatewayConfig): Promise<Finding[]> {
  const current = new GetSecretValueCommand({ SecretId: secretArn, VersionStage: 'AWSCURRENT' })
  const { SecretString } = await new SecretsManagerClient({}).send(current)
  const filled = filledEntries(SecretString ?? '')
  if (filled === undefined) {
    const advice = 'Run `secret set NAME` for each name in `api_key`.'
    return [wrong('channel keys', 'the channel secret is not a JSON object of strings', advice)]
  }
  const missing = channels.flatMap((channel) => {
    const name = credentialName(channel)
    return name === undefined || filled.has(name) ? [] : [{ name, channel: channel.id }]
  })
  return missing.length === 0
    ? [fine('channel keys', `the keys of all ${channels.length} channels are set`)]
    : missing.map(({ name, channel }) =>
        wrong('channel keys', `${name} of channel ${channel} is missing`, `Run \`secret set ${name}\`.`),
      )
}

/** Whether the deployment has an upstream. */
export function checkChannels({ channels }: GatewayConfig): Finding[] {
  const advice = 'Set the base urls of the upstreams and deploy again.'
  return [
    channels.length === 0
      ? wrong('channels', 'the configuration has no channel, so every request is refused', advice)
      : fine('channels', channels.map(({ id }) => id).join(', ')),
  ]
}

function filledEntries(text: string): Set<string> | undefined {
  const secret = parseSecretEntries(text)
  return secret && new Set(Object.keys(secret).filter((name) => secret[name] !== ''))
}
