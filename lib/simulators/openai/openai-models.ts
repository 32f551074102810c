import type { OpenAiResponse } from './openai-endpoint.ts'
import { unknownModel } from './openai-errors.ts'

/** The listed models if every name is accepted. */
const USUAL_MODELS = [
  'chat-default',
  'text-embedding-3-small',
  'text-embedding-3-large',
  'text-embedding-ada-002',
  'image-v3',
  'image-v2',
]

const CREATED_SECONDS = 1_700_000_000

const rowOf = (id: string) => ({ id, object: 'model', created: CREATED_SECONDS, owned_by: 'simulator' })

/** `GET /models`. */
export function modelList(models: readonly string[] = USUAL_MODELS): OpenAiResponse {
  return { kind: 'json', body: { object: 'list', data: models.map(rowOf) } }
}

/** `GET /models/{id}` with the raw id of the path. @throws OpenAiProblem (404) for an unlisted model. */
export function oneModel(encodedId: string, models: readonly string[] = USUAL_MODELS): OpenAiResponse {
  const id = models.find((candidate) => encodeURIComponent(candidate) === encodedId)
  if (id === undefined) {
    throw unknownModel(encodedId)
  }
  return { kind: 'json', body: rowOf(id) }
}
