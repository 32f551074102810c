import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import {
  type DeployPhase,
  deployToEmulator,
  emulatorEnvironment,
  emulatorStackProps,
  readContext,
} from '../../lib/cli/emulator.ts'
import { upstreamVariables } from '../../lib/cli/serve-simulators.ts'
import { UsageError } from '../../lib/cli/terminal.ts'
import type { Environment } from '../../lib/config/platform-facts.ts'
import { SAMPLE_FILE } from '../config/edited-config.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'

describe('deploy to emulator', () => {
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
    const said = jest.spyOn(console, 'log').mockImplementation(() => {})
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

  describe('deployToEmulator', () => {
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
      [{ logRetentionDays: '2' }, 'the setting logRetentionDays must be one of'],
      [{ waf: 'on' }, 'the setting waf does not work with emulator=true'],
      [{ table: 'reelgate-restored' }, 'the setting table needs retainData=true'],
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

  it('upstreamVariables finds the variable of every channel with a simulator', () => {
    expect(Object.fromEntries(upstreamVariables(SAMPLE_FILE))).toEqual({
      'p1-main': 'P1_BASE_URL',
      'p2-direct': 'P2_DIRECT_BASE_URL',
      'p2-proxy': 'P2_PROXY_BASE_URL',
      'openai-main': 'RELAY_BASE_URL',
    })
  })
})

const ENDPOINT = { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' }

describe('emulatorEnvironment', () => {
  it.each([
    [{}, 'AWS_ENDPOINT_URL is not set'],
    [{ AWS_ENDPOINT_URL: '' }, 'AWS_ENDPOINT_URL is not set'],
    [{ AWS_ENDPOINT_URL: '127.0.0.1:4566' }, 'use an http(s) url'],
    [{ AWS_ENDPOINT_URL: 'https://cloudformation.eu-west-1.amazonaws.com' }, 'is AWS itself'],
    [{ AWS_ENDPOINT_URL: 'https://S3.amazonaws.com.:443/x' }, 'is AWS itself'],
    [{ AWS_ENDPOINT_URL: 'https://sts.cn-north-1.amazonaws.com.cn' }, 'is AWS itself'],
    [{ ...ENDPOINT, AWS_ENDPOINT_URL_S3: 'https://s3.amazonaws.com' }, 'AWS_ENDPOINT_URL_S3 is'],
    [{ ...ENDPOINT, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' }, 'AWS itself would be called'],
  ])('%j is refused before anything is done', (environment, reason) => {
    expect(() => emulatorEnvironment(environment)).toThrow(UsageError)
    expect(() => emulatorEnvironment(environment)).toThrow(reason)
  })

  it('accepts an endpoint whose name only resembles AWS', () => {
    const endpoint = 'http://amazonaws.com.localhost:4566'
    expect(emulatorEnvironment({ AWS_ENDPOINT_URL: endpoint }).AWS_ENDPOINT_URL).toBe(endpoint)
  })

  it('has test credentials and a region by default', () => {
    expect(emulatorEnvironment({ ...ENDPOINT, HOME: '/home' })).toEqual({
      ...ENDPOINT,
      HOME: '/home',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    })
  })

  it('never uses keys, profiles, roles or session tokens of AWS', () => {
    const account = { AWS_ACCESS_KEY_ID: `ASIA${'X'.repeat(16)}`, AWS_SECRET_ACCESS_KEY: 'real' }
    const ways = { AWS_SESSION_TOKEN: 'real', AWS_PROFILE: 'real', AWS_WEB_IDENTITY_TOKEN_FILE: 'real' }
    expect(JSON.stringify(emulatorEnvironment({ ...ENDPOINT, ...account, ...ways }))).not.toMatch(/real|ASIA/)
  })

  it('keeps credentials and a region for the emulator', () => {
    const chosen = { AWS_ACCESS_KEY_ID: '111111111111', AWS_SECRET_ACCESS_KEY: 'mine', AWS_REGION: 'eu-west-1' }
    expect(emulatorEnvironment({ ...ENDPOINT, ...chosen })).toEqual({ ...ENDPOINT, ...chosen })
  })
})

const { config } = testCatalogue(
  { trusted_origins: ['https://own.example'] },
  { main: { base_url: 'http://127.0.0.1:9700/p1' }, spare: { base_url: 'http://127.0.0.1:9700/p2' } },
)

describe('emulatorStackProps', () => {
  it('trusts the origins of the video upstreams beside those of the configuration, each once', () => {
    const { trusted_origins } = emulatorStackProps(config, {}).config
    expect(trusted_origins).toEqual(expect.arrayContaining(['https://own.example', 'http://127.0.0.1:9700']))
    expect(new Set(trusted_origins).size).toBe(trusted_origins.length)
  })

  it('passes on the endpoint of a single service, and no other variable', () => {
    const { functionEnvironment } = emulatorStackProps(config, {
      AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
      AWS_ENDPOINT_URL_S3: 'http://s3.localhost:4566',
      AWS_ENDPOINT_URL_SFN: '',
      AWS_SECRET_ACCESS_KEY: 'secret',
    })
    expect(functionEnvironment).toEqual({ AWS_ENDPOINT_URL_S3: 'http://s3.localhost:4566' })
  })

  it('has the endpoint of the emulator if set', () => {
    expect(emulatorStackProps(config, { AWS_ENDPOINT_URL: 'http://e' })).toHaveProperty('emulatorEndpoint', 'http://e')
    expect(emulatorStackProps(config, {})).not.toHaveProperty('emulatorEndpoint')
  })
})

describe('readContext', () => {
  it.each([
    ['retainData', '-c takes key=value, as in -c retainData=true, not retainData'],
    ['=true', '-c takes key=value'],
    ['stage=try', 'use --stage instead of -c stage'],
    ['config=own.yaml', 'use --config instead of -c config'],
    ['emulator=false', 'omit -c emulator'],
    ['retaindata=true', 'there is no setting retaindata; did you mean retainData?'],
  ])('refuses -c %s', (given, reason) => {
    expect(() => readContext([given])).toThrow(reason)
  })

  it('accepts an equals sign in a value, and each setting once', () => {
    expect(readContext(['@aws-cdk/core:flag=a=b'])).toEqual({ '@aws-cdk/core:flag': 'a=b' })
    expect(() => readContext(['waf=on', 'waf=off'])).toThrow('-c waf is given twice')
  })
})
