import { parseChatRequest } from '#core/api/chat-request.ts'
import { parseCompletionRequest } from '#core/api/completion-request.ts'
import { parseEmbeddingRequest } from '#core/api/embedding-request.ts'
import { parseImageRequest } from '#core/api/image-request.ts'
import { parseCountTokensRequest, parseMessagesRequest } from '#core/api/messages-request.ts'
import { parseResponsesRequest } from '#core/api/responses-request.ts'
import { parseVideoJobRequest } from '#core/api/video-job-request.ts'
import { shippedCatalogue } from '../core/shipped-catalogue.ts'

const offered = { catalogue: shippedCatalogue, allowedModels: null }
const sized = { ...offered, bodyBytes: 1000 }

/** What the gateway does with a body before it does anything else, by the name of its schema. */
const PARSERS: Readonly<Record<string, (body: unknown) => unknown>> = {
  CreateVideoJobRequest: (body) => parseVideoJobRequest(body, offered),
  CreateChatCompletionRequest: (body) => parseChatRequest(body, sized),
  CreateResponseRequest: (body) => parseResponsesRequest(body, sized),
  CreateMessageRequest: (body) => parseMessagesRequest(body, sized),
  CountMessageTokensRequest: (body) => parseCountTokensRequest(body, sized),
  CreateCompletionRequest: (body) => parseCompletionRequest(body, offered),
  CreateEmbeddingRequest: (body) => parseEmbeddingRequest(body, offered),
  CreateImageRequest: (body) => parseImageRequest(body, offered),
}

/** The parser of the bodies of a schema. @throws TypeError where this file has none. */
export function parserOf(schema: string): (body: unknown) => unknown {
  const parser = PARSERS[schema]
  if (parser === undefined) {
    throw new TypeError(`no parser of ${schema}`)
  }
  return parser
}
