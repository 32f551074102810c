import { readConsoleFiles } from '../console/console-files.ts'
import { consoleCacheControl } from '../console/console-headers.ts'

/** Where the console stands below the front door, and in its bucket. */
const BELOW = 'console/'

/**
 * The files of a build as the JSON that `lambdas/console-files` writes into the bucket; an empty list without a build, as for a command
 * that deploys nothing.
 */
export function packConsole(folder: string | undefined): string {
  const files = [...filesOf(folder)].map(([path, { bytes, contentType }]) => {
    const key = `${BELOW}${path}`
    return { key, contentType, cacheControl: consoleCacheControl(`/${key}`), base64: bytes.toString('base64') }
  })
  return JSON.stringify(files.sort((one, other) => (one.key < other.key ? -1 : 1)))
}

/** Url paths of the files beside the page, which are not below `assets/`. */
export function filesBesideThePage(folder: string | undefined): readonly string[] {
  const paths = [...filesOf(folder).keys()]
  return paths.filter((path) => !path.startsWith('assets/') && path !== 'index.html').map((path) => `/${BELOW}${path}`)
}

function filesOf(folder: string | undefined): ReturnType<typeof readConsoleFiles> {
  return folder === undefined ? new Map() : readConsoleFiles(folder)
}
