import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'

/**
 * The catalogue of this deployment. The file was validated when it was written (at synth, at start),
 * so it is read as it is: validating again would cost every cold start.
 */
export function openCatalogue(): Catalogue {
  const file = process.env.GATEWAY_CONFIG_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'gateway.json')
  const config: GatewayConfig = JSON.parse(readFileSync(file, 'utf8'))
  return createCatalogue(config)
}
