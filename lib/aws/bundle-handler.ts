import { basename, join } from 'node:path'
import { minifySync } from '@swc/core'
import { buildSync, type Metafile } from 'esbuild'

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
}

/** One ES module, without a source map: reading one costs more at each cold start than it ever explains. */
type BundledFile = {
  readonly name: string
  readonly code: string
  /** Loaded at each cold start; the others when code first imports them dynamically. */
  readonly isLoadedAtStart: boolean
}

/** What a function is deployed with. */
export type Bundle = {
  /** `index.mjs`, which exports the handler, and what it imports; all lie in one directory. */
  readonly files: readonly BundledFile[]
  /** Files that code came from, relative to the root. */
  readonly inputs: readonly string[]
}

/**
 * Bundles one handler with the SDK in it, preferring ES modules: the measured load time is a third of CDK's defaults.
 * What is imported dynamically becomes a file of its own, so that a cold start does not pay for it.
 * Two minifiers, because esbuild must take the SDK's tables of every operation for code with effects and keep them;
 * swc sees through the constants in them and drops what is not used, a fifth of the largest bundle.
 * @throws BuildFailure of esbuild.
 */
export function bundleHandler({ root, folder }: HandlerFile): Bundle {
  const { outputFiles, metafile } = buildSync({
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
  })
  const atStart = filesAtStart(metafile.outputs)
  const files = outputFiles.map(({ path, text }) => {
    const name = basename(path)
    return { name, code: minify(text), isLoadedAtStart: atStart.has(name) }
  })
  return { files, inputs: Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs)) }
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

/** By what went in: handlers share parts, and minifying is most of the time of a bundle. */
const minified = new Map<string, string>()

function minify(code: string): string {
  const known = minified.get(code)
  if (known !== undefined) {
    return known
  }
  const options = { module: true, compress: { toplevel: true, passes: PASSES }, mangle: { toplevel: true } }
  const result = minifySync(code, { ...options, sourceMap: false }).code
  minified.set(code, result)
  return result
}
