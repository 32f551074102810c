import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

/** A package of its own, because the generator wants TypeScript 5: `npm ci` installs it with everything else. */
const GENERATOR = join(ROOT, 'test/client-generator/node_modules/openapi-typescript/bin/cli.js')

/** Types of a client of a committed OpenAPI document, as openapi-typescript writes them. A field with a default may be left out. Takes about two seconds. */
export function clientTypes(document: string): string {
  return execFileSync(process.execPath, [GENERATOR, document, '--default-non-nullable=false'], {
    cwd: ROOT,
    encoding: 'utf8',
    // The generator prints its own name and times there.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}
