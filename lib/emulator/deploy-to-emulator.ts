import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { credentialName } from '#core/catalogue/catalogue.ts'
import { loadGatewayConfig } from '../config/load-gateway-config.ts'
import { type Environment, stackName } from '../config/platform-facts.ts'
import { readStageSettings } from '../config/stage-settings.ts'
import { UsageError } from '../terminal/usage-error.ts'
import { deployPhases, emulatorContext, outputsFile } from './deploy-phases.ts'
import { emulatorEnvironment } from './emulator-environment.ts'
import { type DeployedOutputs, nextCommands } from './next-commands.ts'
import { runCdk } from './run-cdk.ts'

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
