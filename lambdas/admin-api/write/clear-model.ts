import { pathId } from './named-target.ts'
import { clearSwitches, modelBody } from './switched-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `DELETE .../switches` of a model: the configuration decides again. One that left the configuration can be cleared too. */
export const clearModel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'model', 'model')
  const switches = await clearSwitches(event, context, { kind: 'model', id })
  return { body: modelBody(id, switches, context.openCatalogue().config) }
}
