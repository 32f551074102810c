import { join } from 'node:path'

/** The checkout that is tested. */
export const REPOSITORY = join(import.meta.dirname, '../..')

/** The test runner's own switches have no business in the gateway's process. */
export function withoutRunner(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, NODE_ENV: __, TEST: ___, FORCE_TTY: ____, ...rest } = process.env
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith('JEST')))
}
