import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { withAddresses } from '#core/catalogue/upstream-auth.ts'

/** A function was deployed without a variable that it needs: a fault of the stack, never of a request. */
export class MissingEnvironmentError extends Error {
  override readonly name = 'MissingEnvironmentError'
}

/**
 * Reads one environment variable.
 * @throws MissingEnvironmentError when it is unset or empty.
 */
export function environmentVariable(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') {
    throw new MissingEnvironmentError(`${name} is not set`)
  }
  return value
}

/**
 * Reads the catalogue of this deployment. The file was validated when it was written (at synth or at start), and a second
 * validation would slow every cold start.
 */
export function openCatalogue(): Catalogue {
  const file = process.env.GATEWAY_CONFIG_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'gateway.json')
  // biome-ignore lint/plugin: written by the deployment, checked before.
  const config: GatewayConfig = JSON.parse(readFileSync(file, 'utf8'))
  return createCatalogue(withAddresses(config, process.env.AWS_REGION))
}
