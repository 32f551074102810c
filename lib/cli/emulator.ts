import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { credentialName } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { PROFILES, readContextArguments } from '../config/context-settings.ts'
import { loadGatewayConfig } from '../config/load-gateway-config.ts'
import { type Environment, stackName } from '../config/platform-facts.ts'
import { readStageSettings } from '../config/stage-settings.ts'
import { CommandFailedError } from './failures.ts'
import { UsageError } from './terminal.ts'

/** The stage to deploy, its configuration and the directory of its files. */
export type DeployOptions = {
  readonly stage: string
  readonly configFile: string
  /** Further context settings, as `-c key=value` gives them. */
  readonly context: Readonly<Record<string, string>>
  /** Receives the cloud assembly and the outputs. */
  readonly directory: string
}

/** One run of the `cdk` command. */
export type DeployPhase = { readonly name: string; readonly parameters: readonly string[] }

/** The JSON file into which `cdk deploy` writes the outputs, by stack. */
export function outputsFile({ directory }: Pick<DeployOptions, 'directory'>): string {
  return join(directory, 'outputs.json')
}

/** All context settings of a deployment to an emulator. */
export function emulatorContext({
  stage,
  configFile,
  context,
}: Omit<DeployOptions, 'directory'>): Readonly<Record<string, string>> {
  const profile = PROFILES.some((profile) => profile === stage) ? {} : { profile: 'dev' }
  return { ...profile, ...context, emulator: 'true', stage, config: configFile }
}

/** The runs of `cdk` that deploy the stack of a stage to an emulator; the first one bundles the functions for all. */
export function deployPhases(options: DeployOptions): readonly DeployPhase[] {
  const { directory } = options
  const assembly = join(directory, 'cdk.out')
  const context = Object.entries(emulatorContext(options)).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const outputs = outputsFile(options)
  return [
    { name: 'synth', parameters: ['synth', '--quiet', '--output', assembly, ...context] },
    { name: 'bootstrap', parameters: ['bootstrap', '--app', assembly] },
    {
      name: 'deploy',
      // Without change sets: after a deployment without changes `cdk` deletes one that is gone, which MiniStack refuses.
      parameters: [
        'deploy',
        '--app',
        assembly,
        '--method=direct',
        '--require-approval=never',
        '--outputs-file',
        outputs,
      ],
    },
  ]
}

/** Beginning of the ids of credentials that AWS issues (IAM user guide, "Unique identifiers"). */
const ISSUED_BY_AWS = /^A[KS]IA/

/** Host names of AWS itself. */
const AWS_HOST = /(^|\.)(amazonaws\.com|amazonaws\.com\.cn|api\.aws|aws\.dev|amazonaws\.eu)$/

/** Variables that lead to the credentials of a real account. */
const WAYS_TO_AN_ACCOUNT = [
  'AWS_PROFILE',
  'AWS_DEFAULT_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_ROLE_ARN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
]

const TEST_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
const REGION = 'us-east-1'

/**
 * The environment for a deployment to an emulator of AWS: its endpoint, a region, and credentials of no real account, regardless
 * of those in the terminal.
 * @throws UsageError without an endpoint, for an endpoint of AWS itself, and if the SDK would ignore the endpoint.
 */
export function emulatorEnvironment(environment: Environment): Environment & { readonly AWS_ENDPOINT_URL: string } {
  const { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: keyId, AWS_SECRET_ACCESS_KEY: secret } = environment
  if (!endpoint) {
    throw new UsageError(
      'AWS_ENDPOINT_URL is not set: start an emulator of AWS and set it, as to http://127.0.0.1:4566',
    )
  }
  for (const [name, value] of Object.entries(environment)) {
    if (/^AWS_ENDPOINT_URL(_|$)/.test(name) && value) {
      refuseAws(name, value)
    }
  }
  if (environment.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true') {
    throw new UsageError('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true: AWS itself would be called; unset it')
  }
  const kept = Object.entries(environment).filter(([name]) => !WAYS_TO_AN_ACCOUNT.includes(name))
  const own = keyId && secret && !ISSUED_BY_AWS.test(keyId) ? {} : TEST_CREDENTIALS
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION || REGION
  return { ...Object.fromEntries(kept), ...own, AWS_REGION: region, AWS_ENDPOINT_URL: endpoint }
}

function refuseAws(name: string, value: string): void {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) {
    throw new UsageError(`${name} is ${value}: use an http(s) url, as http://127.0.0.1:4566`)
  }
  // A name may end in the dot of the root.
  const host = new URL(value).hostname.replace(/\.$/, '')
  if (AWS_HOST.test(host)) {
    throw new UsageError(`${name} is ${value}, which is AWS itself: this command deploys to emulators only`)
  }
}

/** Outputs of the deployed stack by name, such as `BaseUrl`. */
export type DeployedOutputs = Readonly<Record<string, string>>

type NextCommandsOptions = {
  readonly stage: string
  /** The variables of the terminal. */
  readonly given: Environment
  /** The variables of the deployment. */
  readonly used: Environment
  readonly outputs: DeployedOutputs
  /** Names of the upstreams' keys. */
  readonly secretNames: readonly string[]
}

const NEEDED = ['AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']

/** The commands after a deployment: export missing variables, set the secrets, create a tenant and a key, run the smoke test. */
export function nextCommands({ stage, given, used, outputs, secretNames }: NextCommandsOptions): readonly string[] {
  const missing = NEEDED.filter((name) => given[name] !== used[name])
  const admin = 'npm run admin --'
  const where = stage === 'dev' ? '' : ` --stage ${stage}`
  return [
    ...(missing.length === 0 ? [] : [`export ${missing.map((name) => `${name}=${used[name]}`).join(' ')}`]),
    `for name in ${secretNames.join(' ')}; do echo simulated | ${admin} secret set $name --value-from-stdin${where}; done`,
    `${admin} tenant create --name Acme --credits 100${where}`,
    `${admin} key create --tenant ID${where}`,
    `REELGATE_API_KEY=KEY npm run smoke -- --base-url ${outputs.BaseUrl}`,
  ]
}

const REPOSITORY_ROOT = join(import.meta.dirname, '../..')

/** The version that package-lock.json pins. */
const CDK = join(REPOSITORY_ROOT, 'node_modules/aws-cdk/bin/cdk')

/**
 * Runs `cdk` in the repository. Its output, a line per resource, is shown only with `verbose` or after a failure.
 * @throws CommandFailedError
 */
export async function runCdk(phase: DeployPhase, environment: Environment, verbose: boolean): Promise<void> {
  const child = spawn(process.execPath, [CDK, ...phase.parameters], {
    cwd: REPOSITORY_ROOT,
    // `cdk` starts the app as `node`, which must be this version.
    env: { ...environment, PATH: `${dirname(process.execPath)}:${environment.PATH ?? ''}` },
    stdio: verbose ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  })
  const output: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => output.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) {
    process.stderr.write(Buffer.concat(output))
    throw new CommandFailedError(`cdk ${phase.name} failed (exit code ${code})`)
  }
}

/** The stage to deploy, its configuration and the variables of the terminal. */
export type DeployToEmulatorOptions = {
  readonly stage: string
  readonly configFile: string
  /** Further context settings, by key. */
  readonly context: Readonly<Record<string, string>>
  readonly verbose: boolean
  readonly environment: Environment
  /** Replaced by tests. */
  readonly run?: typeof runCdk
}

/** A running emulator responds at once. */
const REACH_MILLISECONDS_MAX = 5_000

const outputsByStack = z.record(z.string(), z.record(z.string(), z.string()))

/**
 * Bootstraps the emulator, deploys the stack of a stage to it, and reports progress on stdout.
 * @throws UsageError before any change: no endpoint, an endpoint of AWS itself, no response, or no upstream.
 * @throws StageSettingsError before any change, for an invalid context setting.
 * @throws CommandFailedError if `cdk` fails.
 */
export async function deployToEmulator(options: DeployToEmulatorOptions): Promise<void> {
  const { stage, configFile, context, verbose, environment: given, run = runCdk } = options
  const settings = emulatorContext(options)
  readStageSettings((name) => settings[name])
  const used = emulatorEnvironment(given)
  const secretNames = upstreamSecrets(configFile, given)
  await reach(used.AWS_ENDPOINT_URL)
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-emulator-'))
  try {
    for (const phase of deployPhases({ stage, configFile, context, directory })) {
      const startedAt = Date.now()
      await run(phase, used, verbose)
      console.log(`${phase.name.padEnd(10)} ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
    }
    const outputs = readOutputs(outputsFile({ directory }), stackName(stage))
    console.log(
      `\n${Object.entries(outputs)
        .map(([name, value]) => `${name.padEnd(18)} ${value}`)
        .join('\n')}`,
    )
    console.log(`\nNext:\n${nextCommands({ stage, given, used, outputs, secretNames }).join('\n')}`)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Names of the secrets of the deployed channels. @throws UsageError if no channel would be deployed. */
function upstreamSecrets(file: string, environment: Environment): readonly string[] {
  const { config } = loadGatewayConfig({ file, environment, mode: 'synth' })
  if (config.channels.length === 0) {
    throw new UsageError(
      `no channel of ${file} has an upstream: start \`npm run simulators\` and export what it prints`,
    )
  }
  return config.channels.flatMap((channel) => credentialName(channel) ?? [])
}

/** Checks that the endpoint responds, with any status. @throws UsageError */
async function reach(endpoint: string): Promise<void> {
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(REACH_MILLISECONDS_MAX) })
  } catch {
    throw new UsageError(`no response from ${endpoint}: start the emulator or correct AWS_ENDPOINT_URL`)
  }
}

function readOutputs(file: string, stack: string): DeployedOutputs {
  return outputsByStack.parse(JSON.parse(readFileSync(file, 'utf8')))[stack] ?? {}
}

/** Keys with an option, and keys that this command sets. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  stage: 'use --stage instead of -c stage',
  config: 'use --config instead of -c config',
  emulator: 'omit -c emulator: this command deploys to emulators only',
}

/**
 * Reads the context settings of a deployment to an emulator, in the syntax of `cdk`: one `-c retainData=true` each.
 * @throws UsageError like `readContextArguments`, and for a key of `ELSEWHERE`.
 * @throws StageSettingsError for an unknown key.
 */
export function readContext(given: readonly string[]): Readonly<Record<string, string>> {
  const settings = readContextArguments(given)
  for (const key of Object.keys(settings)) {
    const elsewhere = Object.hasOwn(ELSEWHERE, key) ? ELSEWHERE[key] : undefined
    if (elsewhere !== undefined) {
      throw new UsageError(elsewhere)
    }
  }
  return settings
}

/** The variable for the endpoint of one service, such as `AWS_ENDPOINT_URL_S3`. */
const SERVICE_ENDPOINT = /^AWS_ENDPOINT_URL_[A-Z0-9_]+$/

/**
 * Additional properties of a stack on an emulator. Emulators set `AWS_ENDPOINT_URL` for functions themselves; endpoints of
 * single services, such as one with the host of S3 urls, are passed on. The origins of the simulated upstreams become trusted,
 * because downloads from them use plain http and private addresses.
 */
export function emulatorStackProps(config: GatewayConfig, environment: Environment) {
  const endpoints = Object.entries(environment).filter(([name, value]) => SERVICE_ENDPOINT.test(name) && value)
  const upstreams = config.channels.filter(({ provider }) => provider !== 'openai')
  const origins = upstreams.map(({ base_url }) => new URL(base_url).origin)
  return {
    config: { ...config, trusted_origins: [...new Set([...config.trusted_origins, ...origins])] },
    ...(environment.AWS_ENDPOINT_URL ? { emulatorEndpoint: environment.AWS_ENDPOINT_URL } : {}),
    functionEnvironment: Object.fromEntries(endpoints.map(([name, value]) => [name, String(value)])),
  }
}
