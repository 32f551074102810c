import { modelView } from '#core/contract/model-view.ts'
import { ModelNotFoundError } from '#core/errors.ts'
import { catalogueHandler } from '#middleware/catalogue-handler.ts'

/** GET /v1/models/{model} */
export const handler = catalogueHandler('get-model', ({ pathParameters }, catalogue, allowed) => {
  const id = pathParameters?.model ?? ''
  const model = catalogue.listModels(allowed).find((candidate) => candidate.id === id)
  if (model === undefined) {
    throw new ModelNotFoundError(id)
  }
  return modelView(model, catalogue)
})
