import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Stack, Stage } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'

/** The root of the checkout. */
export const REPOSITORY_ROOT = join(import.meta.dirname, '..', '..')

/** The inputs of bundles. */
export type FunctionSources = {
  /** Directory that holds `lambdas/`. */
  readonly root: string
  /** JSON file that ships as `gateway.json` with the functions that read it. */
  readonly configurationFile: string
  /** Folder of the built console; undefined where none is deployed. */
  readonly consoleFolder?: string | undefined
}

/** Writes the validated configuration into the cloud assembly, from which bundles copy it. @returns the path. */
export function writeConfigurationFile(scope: IConstruct, config: GatewayConfig): string {
  const file = join(Stage.of(scope)?.outdir ?? tmpdir(), `gateway.${Stack.of(scope).stackName}.json`)
  writeFileSync(file, JSON.stringify(config))
  return file
}
