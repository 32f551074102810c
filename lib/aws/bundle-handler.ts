import { basename, join } from 'node:path'
import { minifySync } from '@swc/core'
import { type BuildOptions, buildSync, type Metafile } from 'esbuild'

/** The Node version that functions run on. */
const TARGET = 'node24'

/** Modules that a bundle gets in place of others, because a function needs a fraction of what they do. */
const REPLACEMENTS = {
  '@aws-sdk/credential-provider-node': join(import.meta.dirname, 'environment-credentials.ts'),
  'mnemonist/lru-cache': join(import.meta.dirname, 'discovered-endpoints.ts'),
  'node:http': join(import.meta.dirname, 'node-http.ts'),
}

/** Rounds of the second minifier: each finds what the one before left unused; after the sixth it is two percent at most. */
const PASSES = 6

/** The module that Lambda loads. */
const ENTRY = 'index.mjs'

type HandlerFile = {
  /** Directory that holds `lambdas/`. */
  readonly root: string
  /** Folder below `lambdas/` whose `handler.ts` exports `handler`. */
  readonly folder: string
  /** Whether to make source maps too, which takes half as long again. */
  readonly withSourceMaps?: boolean
}

/** One ES module. The code does not refer to the source map: loading the map would cost more at each cold start than it ever explains. */
export type BundledFile = {
  readonly name: string
  readonly code: string
  /** Loaded at each cold start; the others when code first imports them dynamically. */
  readonly isLoadedAtStart: boolean
  /** JSON that leads from the code to the source files, relative to the root. */
  readonly sourceMap?: string | undefined
}

/** What a function is deployed with. */
export type Bundle = {
  /** `index.mjs`, which exports the handler, and the files that it imports, all in one directory. */
  readonly files: readonly BundledFile[]
  /** Source files of the code, relative to the root. */
  readonly inputs: readonly string[]
}

/**
 * Bundles one handler with the SDK in it, preferring ES modules: the measured load time is a third of CDK's defaults.
 * What is imported dynamically becomes a file of its own, so that a cold start does not pay for it.
 * Two minifiers, because esbuild must take the SDK's tables of every operation for code with effects and keep them;
 * swc sees through the constants in them and drops what is not used, a fifth of the largest bundle.
 * @throws BuildFailure of esbuild.
 */
export function bundleHandler({ root, folder, withSourceMaps = false }: HandlerFile): Bundle {
  const options = {
    entryPoints: { index: join(root, 'lambdas', folder, 'handler.ts') },
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
  const { outputFiles, metafile } = buildSync(options)
  const maps = withSourceMaps ? mapsByCode(options) : undefined
  const atStart = filesAtStart(metafile.outputs)
  const files = outputFiles.map(({ path, text }) => {
    const name = basename(path)
    return { name, ...minify(text, maps?.get(withoutHashes(text))), isLoadedAtStart: atStart.has(name) }
  })
  return { files, inputs: Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs)) }
}

/**
 * Source maps of esbuild, by the code that they are of. A build of its own, because a map changes the hashes in the names of files: a
 * deployment would replace functions when only a comment moved. Hashes have one length, so positions are the same in both builds.
 */
function mapsByCode(options: BuildOptions & { readonly write: false }): ReadonlyMap<string, string> {
  const { outputFiles } = buildSync({ ...options, sourcemap: 'external', sourcesContent: false })
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]))
  return new Map([...texts].map(([path, text]) => [withoutHashes(text), texts.get(`${path}.map`) ?? '']))
}

/** Code as it is whatever the hashes in the names of the files that it imports. */
function withoutHashes(code: string): string {
  return code.replaceAll(/-[0-9A-Z]{8}(?=\.mjs")/g, '')
}

/** The entry and what it imports statically, directly or through others. */
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

type Minified = Pick<BundledFile, 'code' | 'sourceMap'>

/** By what went in: handlers share files, and minifying takes most of the time of a bundle. */
const minified = new Map<string, Minified>()

/** @param map the source map of the code, which the new one continues. */
function minify(code: string, map: string | undefined): Minified {
  const key = `${map === undefined}${code}`
  const known = minified.get(key)
  if (known !== undefined) {
    return known
  }
  const options = { module: true, compress: { toplevel: true, passes: PASSES }, mangle: { toplevel: true } }
  // swc continues a map that it is given, as terser does; its types know the switch alone.
  const mapping: object = { sourceMap: map === undefined ? false : { content: map } }
  const result = minifySync(code, { ...options, ...mapping })
  const made = { code: result.code, sourceMap: result.map }
  minified.set(key, made)
  return made
}
