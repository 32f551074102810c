import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, buildSync, type Metafile, version } from 'esbuild'
import { replaceFile } from '../config/replace-file.ts'

/** `npm ci` removes this directory with the packages. */
const CACHE_DIRECTORY = join(import.meta.dirname, '../../node_modules/.cache/reelgate/built')

/** What decides, besides the sources themselves, which file an import leads to. npm lists in the last one what it has installed. */
const RESOLUTION_FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'node_modules/.package-lock.json']

/** File systems set times by a clock that ticks this slowly or faster. */
const CLOCK_TICK_MILLISECONDS = 20

/** What esbuild made: files with their paths, and what they are made of. */
export type Build = {
  readonly outputFiles: readonly { readonly path: string; readonly text: string }[]
  readonly metafile: Metafile
}

type KeptBuild = Build & { readonly digest: string }

/** Options of esbuild whose result can be kept: it has the list of its sources. */
export type KeptBuildOptions = BuildOptions & {
  readonly write: false
  readonly metafile: true
  readonly absWorkingDir: string
}

/**
 * Builds, or reads the result of the last build with these options. A kept result counts only while every one of its sources, of the
 * project and of packages, has the content that it had then: a build reads and parses them all, which takes ten times as long.
 * @param directory of the kept results.
 * @throws BuildFailure of esbuild.
 */
export function keptBuild(options: KeptBuildOptions, directory = CACHE_DIRECTORY): Build {
  const name = createHash('sha256')
    .update(JSON.stringify([version, options]))
    .digest('hex')
  const file = join(directory, `${name}.json`)
  const kept = readKept(file)
  if (kept !== undefined && kept.digest === digestOf(options.absWorkingDir, kept.metafile)) {
    return kept
  }
  const startedAt = Date.now()
  const { outputFiles, metafile } = buildSync(options)
  const build = { outputFiles: outputFiles.map(({ path, text }) => ({ path, text })), metafile }
  if (!hasChangedSince(startedAt - CLOCK_TICK_MILLISECONDS, options.absWorkingDir, metafile)) {
    mkdirSync(directory, { recursive: true })
    replaceFile(file, JSON.stringify({ digest: digestOf(options.absWorkingDir, metafile), ...build }), 0o644)
  }
  return build
}

/** Whether a source may have changed while it was built: its digest would not be that of what was built. */
function hasChangedSince(milliseconds: number, root: string, { inputs }: Metafile): boolean {
  return Object.keys(inputs).some((path) => {
    const stats = statSync(join(root, path), { throwIfNoEntry: false })
    return stats !== undefined && Math.max(stats.mtimeMs, stats.ctimeMs) >= milliseconds
  })
}

function readKept(file: string): KeptBuild | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** One digest of the content of all sources and of what decides where imports lead. */
function digestOf(root: string, { inputs }: Metafile): string {
  const hash = createHash('sha256')
  for (const path of [...RESOLUTION_FILES, ...Object.keys(inputs).sort()]) {
    hash.update(`${path}\0${contentDigest(join(root, path))}\0`)
  }
  return hash.digest('hex')
}

/** Digests of this process, with what tells that a file has changed since: functions share most of their sources. */
const digests = new Map<string, { readonly state: string; readonly digest: string }>()

function contentDigest(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) {
    return 'none'
  }
  const state = [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join()
  const known = digests.get(file)
  if (known?.state === state) {
    return known.digest
  }
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex')
  digests.set(file, { state, digest })
  return digest
}
