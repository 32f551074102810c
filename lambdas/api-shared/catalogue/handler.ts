import { handler as getModel } from '../../api/get-model/handler.ts'
import { handler as listModels } from '../../api/list-models/handler.ts'
import { sharedFunction } from '../shared-function.ts'

/** What a key may use. */
export const handler = sharedFunction({
  'get-model': getModel,
  'list-models': listModels,
})
