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

/** The longest reason or other line that the ledger and the audit log keep. */
const LINE_CHARACTERS_MAX = 500

/** A line for people, such as a reason. @throws UsageError for an empty or long one, and for control characters. */
export function readLine(option: string, text: string): string {
  if (text.trim() === '' || text.length > LINE_CHARACTERS_MAX || !isPrintable(text)) {
    throw new UsageError(`--${option}: use one line of 1 to ${LINE_CHARACTERS_MAX} visible characters`)
  }
  return text
}

/** The same for a required name. */
export function requireName(values: CommandValues): string {
  return readName(values) ?? values.required('name')
}
