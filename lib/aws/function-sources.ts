import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Stack, Stage } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'

/** The checkout that this file belongs to. */
export const REPOSITORY_ROOT = join(import.meta.dirname, '..', '..')

/** Where functions are bundled from. */
export type FunctionSources = {
  /** Directory that holds `lambdas/`. */
  readonly root: string
  /** JSON file that lies beside the code as `gateway.json` where a handler reads it. */
  readonly configurationFile: string
}

/** The validated configuration as a file of the cloud assembly, from where bundling copies it beside an `index.mjs`. */
export function writeConfigurationFile(scope: IConstruct, config: GatewayConfig): string {
  const file = join(Stage.of(scope)?.outdir ?? tmpdir(), `gateway.${Stack.of(scope).stackName}.json`)
  writeFileSync(file, JSON.stringify(config))
  return file
}
