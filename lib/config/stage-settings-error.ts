/** A setting of the deployment that is wrong or does not go with another: one sentence that names it and says what to write. */
export class StageSettingsError extends Error {
  override readonly name = 'StageSettingsError'
}
