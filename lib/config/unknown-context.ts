import { nearestName } from '../terminal/nearest-name.ts'
import { contextSchema } from './context-schema.ts'
import { StageSettingsError } from './stage-settings-error.ts'

/** CDK's own keys contain a colon, a slash or a hyphen: feature flags, cached lookups, `cli-telemetry`. */
const PLAIN_WORD = /^[A-Za-z0-9]+$/

/**
 * Refuses unknown context keys that cannot be CDK's: plain words, and known keys spelt with hyphens or underscores.
 * @throws StageSettingsError for the first one.
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
