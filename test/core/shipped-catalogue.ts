import { fileURLToPath } from 'node:url'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { VideoModel } from '#core/catalogue/model.ts'
import { InvalidRequestError, type RequestIssue } from '#core/errors.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'

export const SHIPPED_FILE = fileURLToPath(new URL('../../config/gateway.yaml', import.meta.url))

/** The configuration as it is shipped, no variable set. */
export const shippedConfig: GatewayConfig = loadGatewayConfig({
  file: SHIPPED_FILE,
  environment: {},
  mode: 'local',
}).config

export const shippedCatalogue: Catalogue = createCatalogue(shippedConfig)

export function shippedModel(id: string): VideoModel {
  const model = shippedCatalogue.findVideoModel(id)
  if (model === undefined) {
    throw new RangeError(`the shipped configuration has no model ${id}`)
  }
  return model
}

/** What an action refuses a request for; fails when it does not refuse. */
export function issuesOf(action: () => unknown): readonly RequestIssue[] {
  try {
    action()
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      return error.issues
    }
    throw error
  }
  throw new Error('the request was not refused')
}
