import { nearestName } from '../terminal/nearest-name.ts'
import { contextSchema } from './context-schema.ts'
import { StageSettingsError } from './stage-settings-error.ts'

/** CDK's own keys have a colon, a slash or a hyphen in them: feature flags, cached look-ups, `cli-telemetry`. */
const PLAIN_WORD = /^[A-Za-z0-9]+$/

/**
 * Refuses a context key that is none of ours and cannot be CDK's: a plain word, or one of ours written with hyphens or
 * underscores.
 * @throws StageSettingsError about the first one.
 */
export function refuseUnknownContext(keys: readonly string[]): void {
  const known = Object.keys(contextSchema.shape)
  for (const key of keys.filter((each) => !known.includes(each))) {
    const word = key.replaceAll(/[-_]/g, '')
    const meant = nearestName(word, known)
    if (PLAIN_WORD.test(key) || meant?.toLowerCase() === word.toLowerCase()) {
      throw new StageSettingsError(
        `there is no context setting ${key}${meant === undefined ? ', see docs/deploy.md for all' : `; did you mean ${meant}?`}`,
      )
    }
  }
}
