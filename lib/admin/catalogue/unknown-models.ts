import { nearestName } from '../../terminal/nearest-name.ts'
import type { AdminContext } from '../command-line/command.ts'
import { readDeployedConfig } from './deployed-config.ts'

/**
 * A sentence for each model that the deployed configuration does not know. No refusal: the model may come with the next
 * deployment. Empty where the configuration cannot be read.
 */
export async function unknownModels(context: AdminContext, models: readonly string[] | null): Promise<string[]> {
  if (models === null) {
    return []
  }
  const config = await readDeployedConfig(context).catch(() => undefined)
  const known = config?.models.map(({ id }) => id) ?? models
  return models
    .filter((model) => !known.includes(model))
    .map((model) => {
      const nearest = nearestName(model, known)
      return `the deployed configuration knows no model ${model}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
    })
}
