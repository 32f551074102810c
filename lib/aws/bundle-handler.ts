import { basename, join } from 'node:path'
import type { BuildOptions, Metafile } from 'esbuild'
import { type KeptBuildOptions, keptBuild } from './kept-build.ts'
import { minifyCode } from './minify-code.ts'

/** The Node version of the functions. */
const TARGET = 'node24'

/** Smaller replacements of modules of which functions need only a fraction. */
const REPLACEMENTS = {
  '@aws-sdk/credential-provider-node': join(import.meta.dirname, 'environment-credentials.ts'),
  'mnemonist/lru-cache': join(import.meta.dirname, 'discovered-endpoints.ts'),
  'node:http': join(import.meta.dirname, 'node-http.ts'),
}

/** The module that Lambda loads. */
const ENTRY = 'index.mjs'

type HandlerFile = {
  /** Directory that holds `lambdas/`. */
  readonly root: string
  /** Folder below `lambdas/`. */
  readonly folder: string
  /** The module in it that the platform loads. Default: `handler.ts`, which exports `handler`. */
  readonly entry?: string
  /** Source maps add half to the time of a bundle. */
  readonly withSourceMaps?: boolean
  /** Directory of the kept results of esbuild, if not the usual one. */
  readonly keptIn?: string | undefined
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

/**
 * Bundles one handler with the SDK, as ES modules where available: the measured load time is a third of that with CDK's defaults.
 * Dynamic imports become separate files, so that cold starts do not load them. swc minifies after esbuild, because esbuild keeps
 * the SDK's tables of all operations as code with side effects; swc drops the unused ones, a fifth of the largest bundle.
 * @throws BuildFailure of esbuild.
 */
export function bundleHandler(handler: HandlerFile): Bundle {
  const { root, folder, entry = 'handler.ts', withSourceMaps = false, keptIn } = handler
  const options = {
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
    target: TARGET,
    mainFields: ['module', 'main'],
    alias: REPLACEMENTS,
    minify: true,
    logLevel: 'silent',
  } as const satisfies BuildOptions
  const { outputFiles, metafile } = keptBuild(options, keptIn)
  const maps = withSourceMaps ? mapsByCode(options, keptIn) : undefined
  const atStart = filesAtStart(metafile.outputs)
  const files = outputFiles.map(({ path, text }) => {
    const name = basename(path)
    return { name, ...minifyCode(text, maps?.get(withoutHashes(text))), isLoadedAtStart: atStart.has(name) }
  })
  return { files, inputs: Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs)) }
}

/**
 * Source maps of esbuild, by code. They come from a separate build, because maps change the hashes in file names: a deployment
 * would replace functions after a change of comments. Hashes have a fixed length, so positions match in both builds.
 */
function mapsByCode(options: KeptBuildOptions, keptIn: string | undefined): ReadonlyMap<string, string> {
  const { outputFiles } = keptBuild({ ...options, sourcemap: 'external', sourcesContent: false }, keptIn)
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]))
  return new Map([...texts].map(([path, text]) => [withoutHashes(text), texts.get(`${path}.map`) ?? '']))
}

/** Code without the hashes in the names of imported files. */
function withoutHashes(code: string): string {
  return code.replaceAll(/-[0-9A-Z]{8}(?=\.mjs")/g, '')
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
