import { credentialName } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { configurationFile, GatewayConfigError, loadGatewayConfig } from '../../config/load-gateway-config.ts'
import { readDeployedConfig } from '../catalogue/deployed-config.ts'
import type { AdminContext } from '../command-line/command.ts'
import { DeploymentNotFoundError } from '../command-line/command-failed-error.ts'

/** Key names with the ids of the channels that use them. */
export type ChannelKeyNames = ReadonlyMap<string, readonly string[]>

/**
 * The key names of the deployed channels and of the configuration file, because a key is set before the deployment that needs it.
 * One of the two is enough.
 * @throws GatewayConfigError for an invalid file that was named.
 */
export async function channelKeyNames(context: AdminContext, file: string | undefined): Promise<ChannelKeyNames> {
  const names = new Map<string, string[]>()
  for (const config of [await deployedConfig(context), fileConfig(file)]) {
    for (const channel of config?.channels ?? []) {
      const name = credentialName(channel)
      if (name !== undefined) {
        names.set(name, [...new Set([...(names.get(name) ?? []), channel.id])])
      }
    }
  }
  return names
}

/** Undefined for a stage whose configuration this version cannot read. */
async function deployedConfig(context: AdminContext): Promise<GatewayConfig | undefined> {
  try {
    return await readDeployedConfig(context)
  } catch (error) {
    if (error instanceof DeploymentNotFoundError) {
      return undefined
    }
    throw error
  }
}

/** Simulated channels are left out, as in a deployment with this environment. */
function fileConfig(file: string | undefined): GatewayConfig | undefined {
  try {
    return loadGatewayConfig({ file: file ?? configurationFile(), environment: process.env, mode: 'synth' }).config
  } catch (error) {
    // A file that was not named may be missing or unfinished.
    if (error instanceof GatewayConfigError && file === undefined) {
      return undefined
    }
    throw error
  }
}
