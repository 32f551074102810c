import { UsageError } from '../terminal/usage-error.ts'
import { refuseUnknownContext } from './unknown-context.ts'

/**
 * Context settings as `cdk` takes them: `-c retainData=true`, once for each.
 * @throws UsageError for what is no `key=value`, and for a key given twice.
 * @throws StageSettingsError for a key that no deployment has.
 */
export function readContextArguments(given: readonly string[]): Readonly<Record<string, string>> {
  const settings = new Map<string, string>()
  for (const each of given) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(each) ?? []
    if (key === undefined || value === undefined) {
      throw new UsageError(`-c takes key=value, as in -c retainData=true, not ${each}`)
    }
    if (settings.has(key)) {
      throw new UsageError(`-c ${key} is given twice: give it once`)
    }
    settings.set(key, value)
  }
  refuseUnknownContext([...settings.keys()])
  return Object.fromEntries(settings)
}
