import { readContextArguments } from '../config/context-settings.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** Keys with an option, and keys that this command sets. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  stage: 'use --stage instead of -c stage',
  config: 'use --config instead of -c config',
  emulator: 'omit -c emulator: this command deploys to emulators only',
}

/**
 * Reads the context settings of a deployment to an emulator, in the syntax of `cdk`: one `-c retainData=true` each.
 * @throws UsageError like `readContextArguments`, and for a key of `ELSEWHERE`.
 * @throws StageSettingsError for an unknown key.
 */
export function readContext(given: readonly string[]): Readonly<Record<string, string>> {
  const settings = readContextArguments(given)
  for (const key of Object.keys(settings)) {
    const elsewhere = Object.hasOwn(ELSEWHERE, key) ? ELSEWHERE[key] : undefined
    if (elsewhere !== undefined) {
      throw new UsageError(elsewhere)
    }
  }
  return settings
}
