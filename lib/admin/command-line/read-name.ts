import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from './command-values.ts'
import { isPrintable } from './printable.ts'

/** The name that people give to something; undefined when it was left out. @throws UsageError for one with control characters. */
export function readName(values: CommandValues): string | undefined {
  const name = values.text('name')
  if (name !== undefined && !isPrintable(name)) {
    throw new UsageError('--name has a control character in it')
  }
  return name
}

/** The same for a name that has to be given. */
export function requireName(values: CommandValues): string {
  return readName(values) ?? values.required('name')
}
