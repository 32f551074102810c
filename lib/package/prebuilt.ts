import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bundle } from '#stack/bundle-handler.ts'

/**
 * Stands in a package for the modules that bundle functions and write the tokenizer's vocabulary: what they would make was made when the package
 * was, so that an app that uses it needs no bundler.
 */

/** The root of the package: its code is two folders below. */
const ROOT = join(import.meta.dirname, '..', '..')

type HandlerFile = { readonly folder: string; readonly entry?: string }

/** Where a package holds the bundle of a handler. */
export function prebuiltFile({ folder, entry = 'handler.ts' }: HandlerFile): string {
  return join('lambdas', folder, `${entry}.json`)
}

/** As `bundleHandler` of lib/stack/bundle-handler.ts. */
export function bundleHandler(handler: HandlerFile): Bundle {
  return JSON.parse(readFileSync(join(ROOT, prebuiltFile(handler)), 'utf8'))
}

/** The vocabulary of a package. */
export const TOKENIZER_RANKS = 'cl100k_base.json'

/** As `writeTokenizerRanks` of lib/config/tokenizer-ranks.ts. */
export function writeTokenizerRanks(file: string): void {
  copyFileSync(join(ROOT, TOKENIZER_RANKS), file)
}
