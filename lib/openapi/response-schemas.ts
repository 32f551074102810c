import { balanceResponse } from '#core/contract/balance-response.ts'
import { chatCompletionChunk, chatCompletionResponse, tokenUsageResponse } from '#core/contract/chat-response.ts'
import { completionResponse } from '#core/contract/completion-response.ts'
import { embeddingResponse } from '#core/contract/embedding-response.ts'
import { openaiErrorResponse, videoErrorResponse } from '#core/contract/error-response.ts'
import { imageResponse } from '#core/contract/image-response.ts'
import { modelListResponse, modelResponse } from '#core/contract/model-response.ts'
import { healthResponse, openapiDocumentResponse } from '#core/contract/service-response.ts'
import { usageResponse } from '#core/contract/usage-response.ts'
import { videoCallbackAttemptResponse } from '#core/contract/video-callback-response.ts'
import { videoEventListResponse, videoEventResponse } from '#core/contract/video-events-response.ts'
import {
  createdVideoJobResponse,
  videoJobCallback,
  videoJobDeletionResponse,
  videoJobListResponse,
  videoJobResponse,
} from '#core/contract/video-job-response.ts'
import { videoQuoteResponse, videoReceiptResponse } from '#core/contract/video-receipt-response.ts'

/** The responses of the gateway and the body of its callback, by their names in the document. */
export const RESPONSE_SCHEMAS = {
  CreatedVideoJob: createdVideoJobResponse,
  VideoJob: videoJobResponse,
  VideoJobList: videoJobListResponse,
  VideoJobDeletion: videoJobDeletionResponse,
  VideoJobCallback: videoJobCallback,
  VideoCallback: videoCallbackAttemptResponse,
  VideoEvent: videoEventResponse,
  VideoEventList: videoEventListResponse,
  VideoQuote: videoQuoteResponse,
  VideoReceipt: videoReceiptResponse,
  Model: modelResponse,
  ModelList: modelListResponse,
  ChatCompletion: chatCompletionResponse,
  ChatCompletionChunk: chatCompletionChunk,
  TokenUsage: tokenUsageResponse,
  Completion: completionResponse,
  EmbeddingList: embeddingResponse,
  ImageList: imageResponse,
  Usage: usageResponse,
  Balance: balanceResponse,
  Health: healthResponse,
  OpenapiDocument: openapiDocumentResponse,
  VideoError: videoErrorResponse,
  Error: openaiErrorResponse,
} as const
