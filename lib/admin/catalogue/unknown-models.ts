import { nearestName } from '../../terminal/nearest-name.ts'
import { readDeployedConfig } from './deployed-config.ts'

/**
 * One warning per model that the deployed configuration does not have. The next deployment may add the model, so it is not an error.
 * Empty if the configuration cannot be read.
 */
export async function unknownModels(
  context: Parameters<typeof readDeployedConfig>[0],
  models: readonly string[] | null,
): Promise<string[]> {
  if (models === null) {
    return []
  }
  const config = await readDeployedConfig(context).catch(() => undefined)
  const known = config?.models.map(({ id }) => id) ?? models
  return models
    .filter((model) => !known.includes(model))
    .map((model) => {
      const nearest = nearestName(model, known)
      return `the deployed configuration has no model ${model}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
    })
}
