import { refuseUnknownContext } from '../config/unknown-context.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** What has an option of its own, and what this command decides. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  stage: 'say --stage in place of -c stage',
  config: 'say --config in place of -c config',
  emulator: 'leave -c emulator out: this command deploys to emulators only',
}

/**
 * Context settings as `cdk` takes them: `-c retainData=true`, once for each.
 * @throws UsageError for what is no `key=value`, a key given twice, and what is said elsewhere.
 * @throws StageSettingsError for a key that no deployment has.
 */
export function readContext(given: readonly string[]): Readonly<Record<string, string>> {
  const settings = new Map<string, string>()
  for (const each of given) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(each) ?? []
    if (key === undefined || value === undefined) {
      throw new UsageError(`-c takes key=value, as in -c retainData=true, not ${each}`)
    }
    const elsewhere = Object.hasOwn(ELSEWHERE, key) ? ELSEWHERE[key] : undefined
    if (elsewhere !== undefined) {
      throw new UsageError(elsewhere)
    }
    if (settings.has(key)) {
      throw new UsageError(`-c ${key} is given twice: give it once`)
    }
    settings.set(key, value)
  }
  refuseUnknownContext([...settings.keys()])
  return Object.fromEntries(settings)
}
