import { allowedModelView } from '#core/api/model-view.ts'
import { catalogueHandler } from '#middleware/catalogue-handler.ts'

/** GET /v1/models/{model} */
export const handler = catalogueHandler('get-model', ({ pathParameters }, catalogue, allowed) =>
  allowedModelView(pathParameters?.model ?? '', catalogue, allowed),
)
