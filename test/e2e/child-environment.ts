import { join } from 'node:path'

/** The checkout that is tested. */
export const REPOSITORY = join(import.meta.dirname, '../..')

/** Jest's own switches have no business in the gateway's process. */
export function withoutJest(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, NODE_ENV: __, JEST_WORKER_ID: ___, ...rest } = process.env
  return rest
}
