import { allowedModelView, modelListFor } from '#core/api/model-view.ts'
import { receivedRequest } from '#middleware/api-event.ts'
import { catalogueHandler } from '#middleware/catalogue-handler.ts'
import { sharedHandler } from '#middleware/shared-handler.ts'
import { getModel, listModels } from '#routes/models.ts'

/** What a key may use. */
export const handler = sharedHandler([
  [
    listModels,
    catalogueHandler(listModels, (event, catalogue, allowed) =>
      modelListFor(receivedRequest(event).headerLines, catalogue, allowed),
    ),
  ],
  [
    getModel,
    catalogueHandler(getModel, (event, catalogue, allowed) => {
      const { headerLines } = receivedRequest(event)
      return allowedModelView({ id: event.pathParameters?.model ?? '', headerLines }, catalogue, allowed)
    }),
  ],
])
