import { readContextArguments } from '../config/context-arguments.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** What has an option of its own, and what this command decides. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  stage: 'say --stage in place of -c stage',
  config: 'say --config in place of -c config',
  emulator: 'leave -c emulator out: this command deploys to emulators only',
}

/**
 * Context settings of a deployment to an emulator, as `cdk` takes them: `-c retainData=true`, once for each.
 * @throws UsageError as `readContextArguments`, and for what is said elsewhere.
 * @throws StageSettingsError for a key that no deployment has.
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
