import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from './command-values.ts'
import { isPrintable } from './printable.ts'

/** The name in `--name`; undefined if it was not given. @throws UsageError for a name with control characters. */
export function readName(values: CommandValues): string | undefined {
  const name = values.text('name')
  if (name !== undefined && !isPrintable(name)) {
    throw new UsageError('--name contains a control character')
  }
  return name
}

/** The same for a required name. */
export function requireName(values: CommandValues): string {
  return readName(values) ?? values.required('name')
}
