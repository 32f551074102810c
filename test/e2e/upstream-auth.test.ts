import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { REPOSITORY } from './child-environment.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

const FEDERATED = `
  - id: openai-federated
    provider: openai
    base_url: https://api.openai.com/v1
    auth:
      workload_identity: { provider: openai, identity_provider_id: idp_1, service_account_id: sa_1 }
    models: { federated-chat: gpt }

  - id: anthropic-federated
    provider: openai
    base_url: https://api.anthropic.com/v1
    auth:
      workload_identity:
        provider: anthropic
        federation_rule_id: fdrl_1
        organization_id: org_1
        service_account_id: svac_1
    apis: { messages: { path: /messages } }
    models: { federated-claude: claude }

  - id: other-account
    provider: openai
    auth:
      aws: { service: bedrock, region: eu-west-1, role_arn: "arn:aws:iam::999988887777:role/models" }
    models: { other-account: openai.gpt-oss-120b-1:0 }
`

const MODELS = ['federated-chat', 'federated-claude', 'other-account'].map(
  (id) => `
  - id: ${id}
    kind: chat
    billing: token
    context_tokens: 128000
    max_output_tokens: 16384
    prices: [{ input: "1", output: "2" }]
`,
)

/** The example of Bedrock with channels that exchange tokens, and one of a role of another account. */
function configFile(change = (yaml: string) => yaml): string {
  const example = readFileSync(join(REPOSITORY, 'config/examples/bedrock.yaml'), 'utf8')
  const file = join(mkdtempSync(join(tmpdir(), 'reelgate-auth-')), 'gateway.yaml')
  writeFileSync(file, change(example.replace('\nmodels:', `${FEDERATED}\nmodels:`) + MODELS.join('')))
  return file
}

/** The same with every upstream simulated. */
function simulated(yaml: string): string {
  return yaml
    .replaceAll(/ {4}base_url: .*\n/g, '')
    .replaceAll('provider: openai\n', 'provider: openai\n    base_url: simulator\n')
}

const BODIES = {
  'chat/completions': { messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 },
  messages: { messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 },
  responses: { input: 'hello' },
} as const

type Path = keyof typeof BODIES

async function post(gateway: Gateway, path: Path, model: string, stream = false) {
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer e2e-key', 'content-type': 'application/json', 'x-amz-evil': '1' },
    body: JSON.stringify({ model, stream, ...BODIES[path] }),
  })
  return { status: response.status, text: await response.text() }
}

/** The last words of each protocol's stream. */
const ENDS = { 'chat/completions': '[DONE]', messages: 'message_stop', responses: 'response.completed' } as const

type Listed = { readonly channels: readonly { readonly id: string; readonly credential: object }[] }

describe('A gateway whose upstreams need no key', () => {
  let gateway: Gateway
  const simulatedFile = configFile(simulated)
  beforeAll(async () => {
    gateway = await startGateway({ configFile: simulatedFile })
  })
  afterAll(() => gateway.stop())

  it.each<[Path, string]>([
    ['chat/completions', 'gpt-oss'],
    ['responses', 'gpt-oss'],
    ['messages', 'gpt-oss'],
    ['chat/completions', 'gpt-6-astra'],
    ['messages', 'claude-opus'],
    ['chat/completions', 'claude-opus'],
    ['responses', 'gpt-5-5'],
    ['chat/completions', 'other-account'],
    ['chat/completions', 'federated-chat'],
    ['messages', 'federated-claude'],
  ])('serves %s of %s, whole and streamed', async (path, model) => {
    expect(await post(gateway, path, model)).toMatchObject({ status: 200 })
    const streamed = await post(gateway, path, model, true)
    expect(streamed.status).toBe(200)
    expect(streamed.text).toContain(ENDS[path])
  })

  it('lists which kind of credential each channel has, and when it ends', async () => {
    const { channels } = (await gateway.admin('channel', 'list')) as Listed
    const until = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
    expect(Object.fromEntries(channels.map(({ id, credential }) => [id, credential]))).toEqual({
      bedrock: { kind: 'aws', expires_at: until },
      'bedrock-mantle': { kind: 'aws', expires_at: until },
      'other-account': { kind: 'aws', expires_at: until },
      'openai-federated': { kind: 'workload_identity', expires_at: until },
      'anthropic-federated': { kind: 'workload_identity', expires_at: until },
    })
    expect(await gateway.admin('health')).toMatchObject({
      ok: true,
      findings: expect.arrayContaining([
        expect.objectContaining({
          check: 'credentials',
          credential: { channel: 'other-account', kind: 'aws', expires_at: until },
        }),
      ]),
    })
  })

  it('differs in nothing from its file', async () => {
    expect(await gateway.admin('catalogue', 'diff', '--config', simulatedFile)).toEqual({
      same: true,
      file: simulatedFile,
      changes: [],
    })
  })

  it('shows no credential in what it has written', () => {
    expect(gateway.output()).not.toMatch(/ASIA[0-9A-F]{16}|oai-wif-|sk-ant-oat|Signature=/)
  })
})

describe('A gateway without AWS credentials', () => {
  it('says which channels are down for what, and serves by the others', async () => {
    const file = configFile((yaml) =>
      yaml.replace(
        'channels:',
        `channels:
  - id: local
    provider: openai
    base_url: \${LOCAL_BASE_URL}
    priority: 5
    models: { gpt-oss: gpt }
`,
      ),
    )
    const { startOpenAiSimulator } = await import('../../lib/simulators/openai.ts')
    const upstream = await startOpenAiSimulator()
    const environment = {
      LOCAL_BASE_URL: upstream.baseUrl,
      AWS_EC2_METADATA_DISABLED: 'true',
      HOME: mkdtempSync(join(tmpdir(), 'reelgate-home-')),
    }
    const gateway = await startGateway({ configFile: file, environment })
    try {
      expect(await post(gateway, 'chat/completions', 'gpt-oss')).toMatchObject({ status: 200 })
      expect(await post(gateway, 'messages', 'claude-opus')).toMatchObject({ status: 502 })
      const where = ['--local', '--data-dir', gateway.dataDirectory]
      const parameters = ['--import', './bin/require-node.mjs', 'bin/admin.ts', 'health', ...where]
      const { status, stdout } = spawnSync(process.execPath, parameters, { cwd: REPOSITORY, encoding: 'utf8' })
      expect(status).toBe(1)
      expect(stdout).toMatch(/channel bedrock-mantle has no credentials/)
      expect(stdout).toContain('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE')
    } finally {
      await gateway.stop()
      await upstream.close()
    }
  })
})
