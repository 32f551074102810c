import { isPrintable, withoutSecrets } from '#core/redaction.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from './command-values.ts'

/** The name in `--name`; undefined if it was not given. @throws UsageError for a name with control characters or a secret. */
export function readName(values: CommandValues): string | undefined {
  const name = values.text('name')
  if (name !== undefined && !isPrintable(name)) {
    throw new UsageError('--name contains a control character')
  }
  requireNoSecret('name', name ?? '')
  return name
}

/** The longest reason or other line that the ledger and the audit log keep. */
const LINE_CHARACTERS_MAX = 500

/** A line for people, such as a reason. @throws UsageError for an empty or long one, control characters and secrets. */
export function readLine(option: string, text: string): string {
  if (text.trim() === '' || text.length > LINE_CHARACTERS_MAX || !isPrintable(text)) {
    throw new UsageError(`--${option}: use one line of 1 to ${LINE_CHARACTERS_MAX} visible characters`)
  }
  requireNoSecret(option, text)
  return text
}

/** Names and reasons are shown in lists and exports. */
function requireNoSecret(option: string, text: string): void {
  if (withoutSecrets(text) !== text) {
    throw new UsageError(`--${option} contains a key, a secret or a digest: leave it out`)
  }
}

/** The same for a required name. */
export function requireName(values: CommandValues): string {
  return readName(values) ?? values.required('name')
}
