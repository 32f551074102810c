/** A setting of the deployment is invalid or contradicts another; the message names it and says what to write. */
export class StageSettingsError extends Error {
  override readonly name = 'StageSettingsError'
}
