import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { minifySync, version } from '@swc/core'
import { replaceFile } from '../config/replace-file.ts'

/** Passes of the minifier. Each removes code that the previous pass left unused; after the sixth, at most two percent. */
const PASSES = 6

const OPTIONS = {
  module: true,
  compress: { toplevel: true, passes: PASSES },
  mangle: { toplevel: true },
} as const

/** `npm ci` removes this directory with the packages. */
const CACHE_DIRECTORY = join(import.meta.dirname, '../../node_modules/.cache/reelgate/minified')

/** Code of one file, and its source map as JSON if one was asked for. */
export type MinifiedCode = { readonly code: string; readonly sourceMap?: string | undefined }

/**
 * Minifies one file of a bundle. Results are kept on disk by the hash of their input, because functions share files, and
 * minification takes most of the time of a bundle, a synth and several tests.
 * @param map the source map of the code, which the new map continues; undefined for code without a map.
 * @param directory of the kept results.
 */
export function minifyCode(code: string, map?: string, directory = CACHE_DIRECTORY): MinifiedCode {
  const input = JSON.stringify([version, OPTIONS, code, map])
  const file = join(directory, `${createHash('sha256').update(input).digest('hex')}.json`)
  const kept = readKept(file)
  if (kept !== undefined) {
    return kept
  }
  const minified = minify(code, map)
  mkdirSync(directory, { recursive: true })
  replaceFile(file, JSON.stringify(minified), 0o644)
  return minified
}

function minify(code: string, map: string | undefined): MinifiedCode {
  // swc accepts an input map, like terser, but its types allow a boolean only.
  const mapping: object = { sourceMap: map === undefined ? false : { content: map } }
  const result = minifySync(code, { ...OPTIONS, ...mapping })
  return { code: result.code, sourceMap: result.map }
}

function readKept(file: string): MinifiedCode | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
