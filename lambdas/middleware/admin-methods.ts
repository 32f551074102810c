import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { matchPath } from '#core/api/paths.ts'

/** Ships beside the code. */
const FILE = join(process.env.LAMBDA_TASK_ROOT ?? join(import.meta.dirname, '../..'), 'admin-openapi.json')

/** The methods of a path, whichever function serves them; undefined for an unknown path. */
export function methodsAt(path: string, matches: typeof matchPath): readonly string[] | undefined {
  // biome-ignore lint/plugin: the file is our own, and its paths have no escapes.
  const { paths }: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(readFileSync(FILE, 'utf8'))
  const [, methods] = Object.entries(paths).find(([template]) => matches(template, path)) ?? []
  return methods && Object.keys(methods).map((method) => method.toUpperCase())
}
