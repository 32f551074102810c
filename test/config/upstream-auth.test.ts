import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'

const REPOSITORY = join(import.meta.dirname, '../..')

function load(channel: string, environment: Record<string, string> = {}, mode: 'local' | 'synth' = 'local', more = '') {
  const file = join(mkdtempSync(join(tmpdir(), 'reelgate-config-')), 'gateway.yaml')
  writeFileSync(
    file,
    `${more}channels:\n  - id: main\n    provider: openai\n    models: { chat-default: gpt }\n${channel.replaceAll(/^/gm, '    ')}\n`,
  )
  const { config } = loadGatewayConfig({ file, environment, mode })
  const [loaded] = config.channels
  return loaded?.provider === 'openai' ? loaded : undefined
}

const problemOf = (...parameters: Parameters<typeof load>) => {
  try {
    load(...parameters)
    return undefined
  } catch (error) {
    return String(error)
  }
}

const BEDROCK = 'auth: { aws: { service: bedrock } }'
const OPENAI = 'auth: { workload_identity: { provider: openai, identity_provider_id: idp, service_account_id: sa'

describe('auth of a channel', () => {
  it.each([
    ['bedrock', 'eu-west-1', 'https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1'],
    ['bedrock-mantle', 'us-east-1', 'https://bedrock-mantle.us-east-1.api.aws/v1'],
  ])('has the address of %s in the region of a local host', (service, region, address) => {
    const loaded = load(`auth: { aws: { service: ${service} } }`, { AWS_REGION: region })
    expect(loaded).toMatchObject({ base_url: address, auth: { aws: { region } } })
  })

  it('leaves address and region to the functions where the stage decides', () => {
    expect(load(BEDROCK, { AWS_REGION: 'eu-west-1' }, 'synth')).toMatchObject({
      base_url: '',
      auth: { aws: { service: 'bedrock' } },
    })
  })

  it('keeps an address of its own, such as a VPC endpoint', () => {
    const base_url = 'https://vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com/openai/v1'
    expect(load(`base_url: ${base_url}\n${BEDROCK}`)).toMatchObject({ base_url })
  })

  it.each([
    ['a key beside it', `base_url: https://a.example/v1\napi_key: \${KEY}\n${BEDROCK}`, 'one kind of credential'],
    ['no way at all', 'base_url: https://a.example/v1\nauth: {}', 'name one of aws and workload_identity'],
    ['both ways', `base_url: https://api.openai.com/v1\n${OPENAI} }, aws: { service: bedrock } }`, 'name one of aws'],
    ['an unknown service', 'auth: { aws: { service: sagemaker } }', 'allowed: bedrock, bedrock-mantle'],
    ['an external id without a role', 'auth: { aws: { service: bedrock, external_id: abc } }', 'add role_arn'],
    ['what is no role', 'auth: { aws: { service: bedrock, role_arn: me } }', 'use the ARN of a role'],
    [
      'a plain address for signed requests',
      `base_url: http://a.example/v1\n${BEDROCK}`,
      'base_url: requests that your role',
    ],
    ['no address', `${OPENAI} } }`, 'base_url: is missing'],
    ['neither address nor auth', 'api_key: ""', 'base_url: is missing; write a string'],
    ['a foreign host', `base_url: https://evil.example/v1\n${OPENAI} } }`, 'base_url: a token of openai goes to'],
    ['a plain address', `base_url: http://api.openai.com/v1\n${OPENAI} } }`, 'base_url: a token of openai goes to'],
    [
      'a foreign token endpoint',
      `base_url: https://api.openai.com/v1\n${OPENAI}, token_url: "https://auth.evil.example/oauth/token" } }`,
      'token_url: a token of openai goes to',
    ],
    [
      'a foreign place of Messages',
      `base_url: https://api.openai.com/v1\napis: { messages: { base_url: https://evil.example/v1, path: /messages } }\n${OPENAI} } }`,
      'messages.base_url: a token of openai goes to',
    ],
  ])('is refused with %s', (_, channel, message) => {
    expect(problemOf(channel)).toContain(message)
  })

  it('signs requests to a plain address of this machine', () => {
    expect(load(`base_url: http://127.0.0.1:9400/v1\n${BEDROCK}`)).toMatchObject({
      base_url: 'http://127.0.0.1:9400/v1',
    })
  })

  it('sends tokens to an origin of trusted_origins', () => {
    const channel = `base_url: http://127.0.0.1:9400/v1\n${OPENAI} } }`
    expect(problemOf(channel, {}, 'local', 'trusted_origins: [http://127.0.0.1:9400]\n')).toBeUndefined()
  })

  it('loads the example of Bedrock, for a local host and for a deployment', () => {
    const file = join(REPOSITORY, 'config/examples/bedrock.yaml')
    for (const mode of ['local', 'synth'] as const) {
      const { config, warnings } = loadGatewayConfig({ file, environment: {}, mode })
      expect(config.channels.map(({ base_url }) => base_url)).toEqual([
        'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1',
        'https://bedrock-mantle.us-east-1.api.aws',
      ])
      expect(warnings).toEqual([])
    }
    expect(readFileSync(file, 'utf8')).toContain('global.openai.gpt-6-astra')
  })
})
