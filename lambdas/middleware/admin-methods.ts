import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { matchPath } from '#core/api/paths.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'

/** Ships beside the code. */
const FILE = join(process.env.LAMBDA_TASK_ROOT ?? join(import.meta.dirname, '../..'), 'admin-openapi.json')

/** The methods of a path, whichever function serves them; undefined for an unknown path. */
export function methodsAt(path: string): readonly string[] | undefined {
  const { paths } = Object(parseJsonText(readFileSync(FILE, 'utf8')))
  const [, methods] = Object.entries<object>(paths).find(([template]) => matchPath(template, path)) ?? []
  return methods && Object.keys(methods).map((method) => method.toUpperCase())
}
