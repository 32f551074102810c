import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '..', '..')

const BUILDER = join(import.meta.dirname, 'run-vite.ts')

/** Everything that a build depends on. `package-lock.json` stands for the packages. */
const SOURCES = ['web/index.html', 'web/tsconfig.json', 'web/src/**/*', 'lib/console/run-vite.ts', 'package-lock.json']

/** Builds of other sources are removed when they are older than this, so that a process can still read the one it has chosen. */
const OLD_BUILD_MILLISECONDS = 600_000

/** The build takes about a second; this bounds a machine under load. */
const BUILD_MILLISECONDS_MAX = 120_000

/**
 * Builds the console unless these sources have been built before. The folder is named after a hash of the sources, so a build is always
 * of the sources beside it, and processes that build at once do not meet. Vite runs in a process of its own, because its memory would
 * stay in a host.
 * @returns the folder with `index.html` and `assets/`.
 * @throws Error with Vite's output if the build fails.
 */
export async function buildConsole(root = ROOT): Promise<string> {
  const builds = join(root, 'web', 'dist')
  const directory = join(builds, hashOfSources(root))
  if (!existsSync(directory)) {
    await promisify(execFile)(process.execPath, [BUILDER, join(root, 'web'), directory], {
      timeout: BUILD_MILLISECONDS_MAX,
      // A proxy, a loader or a mode of the calling process is not meant for Vite.
      env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    })
    removeOldBuilds(builds, directory)
  }
  return directory
}

/** The first 16 characters name a build among a few. */
function hashOfSources(root: string): string {
  const hash = createHash('sha256')
  const files = globSync(SOURCES, { cwd: root }).sort()
  for (const file of files.filter((path) => statSync(join(root, path)).isFile())) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex').slice(0, 16)
}

function removeOldBuilds(builds: string, current: string): void {
  for (const name of readdirSync(builds)) {
    const build = join(builds, name)
    const modified = statSync(build, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (build !== current && Date.now() - modified > OLD_BUILD_MILLISECONDS) {
      rmSync(build, { recursive: true, force: true })
    }
  }
}
