import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'

/**
 * Reads the catalogue of this deployment. The file was validated when it was written (at synth or at start), and a second
 * validation would slow every cold start.
 */
export function openCatalogue(): Catalogue {
  const file = process.env.GATEWAY_CONFIG_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'gateway.json')
  // biome-ignore lint/plugin: written by the deployment, checked before.
  const config: GatewayConfig = JSON.parse(readFileSync(file, 'utf8'))
  return createCatalogue(config)
}
