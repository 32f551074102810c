import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'
import { type DeployPhase, deployToEmulator, readContext } from '../../lib/cli/emulator.ts'
import { upstreamVariables } from '../../lib/cli/serve-simulators.ts'
import { UsageError } from '../../lib/cli/terminal.ts'
import type { Environment } from '../../lib/config/platform-facts.ts'
import { SAMPLE_FILE } from '../config/edited-config.ts'

const CONFIG = join(import.meta.dirname, '../../config/gateway.yaml')
const OUTPUTS = { BaseUrl: 'http://127.0.0.1:4566/_aws/execute-api/a1/live/', TableName: 'T' }

let emulator: HttpServer
let endpoint: string
beforeAll(async () => {
  emulator = await listen((_request, response) => void response.writeHead(404).end(), 0)
  endpoint = `http://127.0.0.1:${emulator.port}`
})
afterAll(() => emulator.close())

type Deployed = { readonly stage?: string; readonly context?: Readonly<Record<string, string>> }

/** Deploys with a `cdk` that only writes the outputs. */
async function deploy(environment: Environment, { stage = 'dev', context = {} }: Deployed = {}) {
  const phases: DeployPhase[] = []
  const said = vi.spyOn(console, 'log').mockImplementation(() => {})
  const run = async (phase: DeployPhase) => {
    phases.push(phase)
    const file = phase.parameters[phase.parameters.indexOf('--outputs-file') + 1]
    if (phase.name === 'deploy') {
      writeFileSync(String(file), JSON.stringify({ [`Reelgate-${stage}`]: OUTPUTS }))
    }
  }
  try {
    await deployToEmulator({ stage, configFile: CONFIG, context, verbose: false, environment, run })
    return { phases, text: said.mock.calls.flat().join('\n') }
  } finally {
    said.mockRestore()
  }
}

describe('deploy-to-emulator', () => {
  it('bundles once, bootstraps, deploys, and prints the next commands', async () => {
    const { phases, text } = await deploy({ AWS_ENDPOINT_URL: endpoint, P1_BASE_URL: 'http://127.0.0.1:9700' })
    expect(phases.map(({ name }) => name)).toEqual(['synth', 'bootstrap', 'deploy'])
    expect(phases[0]?.parameters).toEqual(expect.arrayContaining(['emulator=true', 'stage=dev', `config=${CONFIG}`]))
    const [, bootstrapped, deployed] = phases.map(({ parameters }) => parameters[parameters.indexOf('--app') + 1])
    expect(bootstrapped).toBe(deployed)
    expect(text).toContain('export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test')
    expect(text).toContain('for name in P1_API_KEY; do echo simulated | npm run admin -- secret set $name')
    expect(text).toContain(`REELGATE_API_KEY=KEY npm run smoke -- --base-url ${OUTPUTS.BaseUrl}`)
  })

  it('deploys without change sets, so that a deployment after one without changes succeeds', async () => {
    const { phases } = await deploy({ AWS_ENDPOINT_URL: endpoint, P1_BASE_URL: 'http://127.0.0.1:9700' })
    expect(phases[2]?.parameters).toContain('--method=direct')
  })

  it('uses the dev profile for other stage names, and includes the name in the commands', async () => {
    const { phases, text } = await deploy(
      { AWS_ENDPOINT_URL: endpoint, P1_BASE_URL: 'http://127.0.0.1:9700' },
      { stage: 'try' },
    )
    expect(phases[0]?.parameters).toContain('profile=dev')
    expect(text).toContain('key create --tenant ID --stage try')
  })

  it('passes context settings to the synth, so that an upgrade can be tested with the settings of a stage', async () => {
    const environment = { AWS_ENDPOINT_URL: endpoint, P1_BASE_URL: 'http://127.0.0.1:9700' }
    const context = readContext(['retainData=true', 'table=reelgate-restored', 'logRetentionDays=1'])
    const { phases } = await deploy(environment, { context })
    expect(phases[0]?.parameters.join(' ')).toMatch(
      / -c retainData=true -c table=reelgate-restored -c logRetentionDays=1 /,
    )
    expect(phases[0]?.parameters).toEqual(expect.arrayContaining(['emulator=true', 'stage=dev']))
  })

  it('keeps a given profile of another stage name', async () => {
    const environment = { AWS_ENDPOINT_URL: endpoint, P1_BASE_URL: 'http://127.0.0.1:9700' }
    const { phases } = await deploy(environment, { stage: 'try', context: { profile: 'dev' } })
    expect(phases[0]?.parameters.filter((each) => each.startsWith('profile='))).toEqual(['profile=dev'])
  })

  it.each([
    [{ logRetentionDays: '2' }, 'the context setting logRetentionDays must be one of'],
    [{ waf: 'on' }, 'the context setting waf does not work with emulator=true'],
    [{ table: 'reelgate-restored' }, 'the context setting table needs retainData=true'],
  ])('refuses %j before it asks the emulator anything', async (context, reason) => {
    await expect(deploy({}, { context })).rejects.toThrow(reason)
  })

  it('refuses to deploy a service without any upstream', async () => {
    const deployed = deploy({ AWS_ENDPOINT_URL: endpoint })
    await expect(deployed).rejects.toBeInstanceOf(UsageError)
    await expect(deployed).rejects.toThrow('npm run simulators')
  })

  it('refuses an unreachable endpoint before it bundles', async () => {
    const environment = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1', P1_BASE_URL: 'http://127.0.0.1:9700' }
    await expect(deploy(environment)).rejects.toThrow('no response from')
  })
})

it('upstream-variables: finds the variable of every channel with a simulator', () => {
  expect(Object.fromEntries(upstreamVariables(SAMPLE_FILE))).toEqual({
    'p1-main': 'P1_BASE_URL',
    'p2-direct': 'P2_DIRECT_BASE_URL',
    'p2-proxy': 'P2_PROXY_BASE_URL',
    'openai-main': 'RELAY_BASE_URL',
  })
})
