import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayGateway, startRelayGateway } from './relay-gateway.ts'

/** A model for each way to serve an agent: relayed as it is, or translated for an upstream that speaks chat, or messages. */
export const AGENT_MODELS = ['native', 'chat-only', 'messages-only'] as const

const APIS = {
  native: '{ chat: /chat/completions, responses: /responses, messages: { path: /messages } }',
  'chat-only': '{ chat: /chat/completions }',
  'messages-only': '{ messages: { path: /messages } }',
}

const CHANNELS = AGENT_MODELS.map(
  (id) => `
  - id: ${id}
    provider: openai
    base_url: simulator
    apis: ${APIS[id]}
    breaker: { failures: 1000 }
    models: { ${id}: ${id} }`,
)

const MODELS = AGENT_MODELS.map(
  (id) => `
  - id: ${id}
    kind: chat
    billing: token
    input_modalities: [text, image]
    context_tokens: 200000
    max_output_tokens: 16384
    prices: [{ input: "1", output: "2" }]`,
)

/** A gateway over the simulated upstreams with {@link AGENT_MODELS}. */
export async function startAgentGateway(): Promise<RelayGateway> {
  const configFile = join(mkdtempSync(join(tmpdir(), 'reelgate-e2e-')), 'gateway.yaml')
  writeFileSync(configFile, `channels:${CHANNELS.join('')}\nmodels:${MODELS.join('')}\n`)
  return await startRelayGateway({ configFile })
}
