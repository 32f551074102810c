import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { minifySync, version as swcVersion } from '@swc/core'
import { buildSync, version as esbuildVersion, type Metafile } from 'esbuild'
import { replaceFile } from '../config/replace-file.ts'

/** Smaller replacements of modules of which functions need only a fraction. */
const REPLACEMENTS = {
  '@aws-sdk/credential-provider-node': join(import.meta.dirname, 'environment-credentials.ts'),
  'mnemonist/lru-cache': join(import.meta.dirname, 'discovered-endpoints.ts'),
  'node:http': join(import.meta.dirname, 'node-http.ts'),
}

/** The module that Lambda loads. */
const ENTRY = 'index.mjs'

/** Passes of the minifier. Each removes code that the previous pass left unused; after the sixth, at most two percent. */
const PASSES = 6

/** `npm ci` removes this directory with the packages. */
const KEPT_BUNDLES = join(import.meta.dirname, '../../node_modules/.cache/reelgate/bundles')

/** What decides about a bundle: all code of functions, the replacements, the packages, and how imports lead to them. */
const SOURCES = ['lambdas/**/*.*', 'lib/stack/*.ts', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json']

type HandlerFile = {
  /** Directory that holds `lambdas/`. */
  readonly root: string
  /** Folder below `lambdas/`. */
  readonly folder: string
  /** The module in it that the platform loads. Default: `handler.ts`, which exports `handler`. */
  readonly entry?: string
  /** Source maps add half to the time of a bundle. */
  readonly withSourceMaps?: boolean
}

/** One ES module. The code does not refer to its source map, which would slow every cold start. */
export type BundledFile = {
  readonly name: string
  readonly code: string
  /** Loaded at each cold start; other files at their first dynamic import. */
  readonly isLoadedAtStart: boolean
  /** Source map as JSON, with paths relative to the root. */
  readonly sourceMap?: string | undefined
}

/** The deployed code of a function. */
export type Bundle = {
  /** `index.mjs`, which exports the handler, and its imports, all in one directory. */
  readonly files: readonly BundledFile[]
  /** Source files of the code, relative to the root. */
  readonly inputs: readonly string[]
}

/** Minified kilobytes (1000 bytes) of a bundle: loaded by each cold start, and deployed in total, dynamic imports included. */
export type BundleWeight = { readonly atStart: number; readonly deployed: number }

/** The most that the bundle of a function or of the relay server may weigh. The largest functions bring the SDK's client of S3. */
export const BUNDLE_BUDGET: BundleWeight = { atStart: 400, deployed: 600 }

/** Measures the code of a bundle. */
export function weighBundle({ files }: Bundle): BundleWeight {
  const weigh = (some: Bundle['files']) => some.reduce((bytes, { code }) => bytes + Buffer.byteLength(code), 0) / 1000
  return { atStart: weigh(files.filter(({ isLoadedAtStart }) => isLoadedAtStart)), deployed: weigh(files) }
}

/**
 * Bundles one handler with the SDK, as ES modules where available: the measured load time is a third of that with CDK's defaults.
 * A bundle takes a second, so it is kept on disk until a source changes.
 * @param directory of the kept bundles.
 * @throws BuildFailure of esbuild.
 */
export function bundleHandler({ folder, ...handler }: HandlerFile, directory = KEPT_BUNDLES): Bundle {
  const { root, entry = 'handler.ts', withSourceMaps = false } = handler
  const sources = digestOf(root)
  const file = join(
    directory,
    `${[folder, entry, withSourceMaps ? 'mapped' : 'plain'].join('-').replaceAll('/', '-')}.json`,
  )
  const kept = readKept(file)
  if (kept?.sources === sources) {
    return kept.bundle
  }
  const bundle = build({ root, folder, entry, withSourceMaps })
  // Of sources that changed meanwhile nobody knows which were bundled.
  if (digestOf(root) === sources) {
    mkdirSync(directory, { recursive: true })
    replaceFile(file, JSON.stringify({ sources, bundle }), 0o644)
  }
  return bundle
}

/**
 * Dynamic imports become separate files, so that cold starts do not load them. swc minifies after esbuild, because esbuild keeps
 * the SDK's tables of all operations as code with side effects; swc drops the unused ones, a fifth of the largest bundle.
 */
function build({ root, folder, entry, withSourceMaps }: Required<HandlerFile>): Bundle {
  const { outputFiles, metafile } = buildSync({
    entryPoints: { index: join(root, 'lambdas', folder, entry) },
    absWorkingDir: root,
    outdir: '.',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    alias: REPLACEMENTS,
    // The SDK reads user agents with this package in browsers, and never in a function.
    external: ['bowser'],
    minify: true,
    sourcemap: withSourceMaps ? 'external' : false,
    sourcesContent: false,
    logLevel: 'silent',
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  const atStart = filesAtStart(metafile.outputs)
  const rename = stableNames(metafile.outputs)
  const files = [...texts].flatMap(([name, text]) =>
    name.endsWith('.map')
      ? []
      : [{ name: rename(name), ...minify(rename(text), texts.get(`${name}.map`)), isLoadedAtStart: atStart.has(name) }],
  )
  return { files, inputs: Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs)) }
}

/** @param map the source map of the code, which the new map continues. */
function minify(code: string, map: string | undefined): Pick<BundledFile, 'code' | 'sourceMap'> {
  // swc accepts an input map, like terser, but its types allow a boolean only.
  const mapping: object = { sourceMap: map === undefined ? false : { content: map } }
  const result = minifySync(code, {
    module: true,
    compress: { toplevel: true, passes: PASSES },
    mangle: { toplevel: true },
    ...mapping,
  })
  return { code: result.code, sourceMap: result.map }
}

/**
 * Replaces the hashes in file names by such as name only the sources: those of esbuild change with comments if there are maps, and a
 * deployment would replace functions. Both have eight characters, so that positions in the code stay.
 */
function stableNames(outputs: Metafile['outputs']): (text: string) => string {
  const names = new Map(
    Object.entries(outputs).map(([name, { inputs }]) => [
      name.slice(-'-12345678.mjs'.length),
      `-${sha256(Object.keys(inputs).join()).slice(0, 8).toUpperCase()}.mjs`,
    ]),
  )
  return (text) => text.replaceAll(/-[0-9A-Z]{8}\.mjs/g, (end) => names.get(end) ?? end)
}

/** The entry and its static imports, direct and indirect. */
function filesAtStart(outputs: Metafile['outputs']): ReadonlySet<string> {
  const found = new Set([ENTRY])
  for (const name of found) {
    for (const { path, kind } of outputs[name]?.imports ?? []) {
      if (kind === 'import-statement' && outputs[path] !== undefined) {
        found.add(path)
      }
    }
  }
  return found
}

function readKept(file: string): { readonly sources: string; readonly bundle: Bundle } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** One digest of the names and the content of all sources. */
function digestOf(root: string): string {
  const hash = createHash('sha256').update(`${esbuildVersion} ${swcVersion}`)
  for (const path of globSync(SOURCES, { cwd: root }).sort()) {
    hash.update(`\0${path}\0`).update(readFileSync(join(root, path)))
  }
  return hash.digest('hex')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
