import { chatCompletionAnswer, chatCompletionChunk } from '#core/contract/chat-response.ts'
import { completionAnswer } from '#core/contract/completion-response.ts'
import { embeddingAnswer } from '#core/contract/embedding-response.ts'
import { openaiErrorAnswer, videoErrorAnswer } from '#core/contract/error-response.ts'
import { imageAnswer } from '#core/contract/image-response.ts'
import { modelAnswer, modelListAnswer } from '#core/contract/model-response.ts'
import { healthAnswer, openapiDocumentAnswer } from '#core/contract/service-response.ts'
import { tokenUsageAnswer } from '#core/contract/token-usage-response.ts'
import {
  createdVideoJobAnswer,
  videoJobAnswer,
  videoJobCallback,
  videoJobDeletionAnswer,
  videoJobListAnswer,
} from '#core/contract/video-job-response.ts'

/** The answers of the gateway and the body of its callback, by their names in the document. */
export const ANSWERS = {
  CreatedVideoJob: createdVideoJobAnswer,
  VideoJob: videoJobAnswer,
  VideoJobList: videoJobListAnswer,
  VideoJobDeletion: videoJobDeletionAnswer,
  VideoJobCallback: videoJobCallback,
  Model: modelAnswer,
  ModelList: modelListAnswer,
  ChatCompletion: chatCompletionAnswer,
  ChatCompletionChunk: chatCompletionChunk,
  TokenUsage: tokenUsageAnswer,
  Completion: completionAnswer,
  EmbeddingList: embeddingAnswer,
  ImageList: imageAnswer,
  Health: healthAnswer,
  OpenapiDocument: openapiDocumentAnswer,
  VideoError: videoErrorAnswer,
  Error: openaiErrorAnswer,
} as const
