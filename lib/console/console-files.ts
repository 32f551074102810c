import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'

/** One file of a build. */
export type ConsoleFile = { readonly bytes: Buffer; readonly contentType: string }

/** The types of all files that a build contains. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * The `content-type` of a file of the console.
 * @throws Error for a type that no build has contained so far, so that nothing is served with a guessed one.
 */
function consoleContentType(file: string): string {
  const contentType = CONTENT_TYPES[extname(file)]
  if (contentType === undefined) {
    throw new Error(`${file}: add the content type of ${extname(file)} files to lib/console/console-files.ts`)
  }
  return contentType
}

/** Every file of a build by its path relative to the build's folder, such as `assets/index-1a2b.js`. A build has less than 1 MB. */
export function readConsoleFiles(directory: string): ReadonlyMap<string, ConsoleFile> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => statSync(join(directory, name)).isFile())
  return new Map(
    files.map((name) => [
      name.split(sep).join('/'),
      { bytes: readFileSync(join(directory, name)), contentType: consoleContentType(name) },
    ]),
  )
}
