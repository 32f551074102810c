import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * `npm run web:types`: the types of both APIs for the console, from their OpenAPI documents. They are not committed. A field with a
 * default may be left out of a request. Takes about three seconds.
 */
const ROOT = join(import.meta.dirname, '..')

/** A package of its own, because the generator wants TypeScript 5: `npm ci` installs it with everything else. */
const GENERATOR = join(ROOT, 'test/client-generator/node_modules/openapi-typescript/bin/cli.js')

const TYPES_OF: Readonly<Record<string, string>> = {
  'openapi.json': 'web/src/api/gateway-api.d.ts',
  'admin-openapi.json': 'web/src/api/admin-api.d.ts',
}

for (const [document, types] of Object.entries(TYPES_OF)) {
  const options = ['--default-non-nullable=false', '--output', types]
  // The generator prints its own name and times.
  execFileSync(process.execPath, [GENERATOR, document, ...options], { cwd: ROOT, stdio: 'ignore' })
}
