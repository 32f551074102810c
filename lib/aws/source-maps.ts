import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Stage } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { BundledFile } from './bundle-handler.ts'

/** Value of the app's context: `false` leaves out source maps, half of the time of a synth. Only tests that run the code set it. */
export const SOURCE_MAPS = 'reelgate:source-maps'

/** Whether the app writes source maps. */
export function wantsSourceMaps(scope: Construct): boolean {
  return scope.node.tryGetContext(SOURCE_MAPS) !== false
}

type MappedCode = {
  /** Folder of the code below `lambdas/`. */
  readonly folder: string
  /** Names the deployed code in the template. */
  readonly hash: string
  readonly files: readonly BundledFile[]
}

/**
 * Writes source maps beside the assets of the cloud assembly: `source-maps/<folder>/<hash>/<file>.map`. The template names the deployed code by
 * the same hash, so maps of several deployments can be kept together. Does nothing for files without a map.
 */
export function writeSourceMaps(scope: Construct, { folder, hash, files }: MappedCode): void {
  const assembly = Stage.of(scope)?.outdir
  const mapped = files.filter(({ sourceMap }) => sourceMap !== undefined)
  if (mapped.length === 0 || assembly === undefined) {
    return
  }
  const directory = join(assembly, 'source-maps', folder, hash)
  mkdirSync(directory, { recursive: true })
  for (const { name, sourceMap = '' } of mapped) {
    writeFileSync(join(directory, `${name}.map`), sourceMap)
  }
}
