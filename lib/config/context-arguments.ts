import { UsageError } from '../terminal/usage-error.ts'
import { refuseUnknownContext } from './unknown-context.ts'

/**
 * Reads context settings in the form of `cdk`: `-c retainData=true`, once per setting.
 * @throws UsageError for an argument that is not `key=value`, and for a repeated key.
 * @throws StageSettingsError for an unknown key.
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
