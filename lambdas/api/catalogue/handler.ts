import { allowedModelView, modelListView } from '#core/api/model-view.ts'
import { catalogueHandler } from '#middleware/catalogue-handler.ts'
import { sharedHandler } from '#middleware/shared-handler.ts'
import { getModel, listModels } from '#routes/models.ts'

/** What a key may use. */
export const handler = sharedHandler([
  [listModels, catalogueHandler(listModels, (_event, catalogue, allowed) => modelListView(catalogue, allowed))],
  [
    getModel,
    catalogueHandler(getModel, ({ pathParameters }, catalogue, allowed) =>
      allowedModelView(pathParameters?.model ?? '', catalogue, allowed),
    ),
  ],
])
