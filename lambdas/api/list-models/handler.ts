import { modelListView } from '#core/api/model-view.ts'
import { catalogueHandler } from '#middleware/catalogue-handler.ts'

/** GET /v1/models */
export const handler = catalogueHandler('list-models', (_event, catalogue, allowed) =>
  modelListView(catalogue, allowed),
)
