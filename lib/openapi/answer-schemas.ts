import { chatCompletionAnswer, chatCompletionChunk } from '#core/contract/chat-answer.ts'
import { completionAnswer } from '#core/contract/completion-answer.ts'
import { embeddingAnswer } from '#core/contract/embedding-answer.ts'
import { openaiErrorAnswer, videoErrorAnswer } from '#core/contract/error-answer.ts'
import { imageAnswer } from '#core/contract/image-answer.ts'
import { modelAnswer, modelListAnswer } from '#core/contract/model-answer.ts'
import { healthAnswer, openapiDocumentAnswer } from '#core/contract/service-answer.ts'
import { tokenUsageAnswer } from '#core/contract/token-usage-answer.ts'
import {
  createdVideoJobAnswer,
  videoJobAnswer,
  videoJobCallback,
  videoJobDeletionAnswer,
  videoJobListAnswer,
} from '#core/contract/video-job-answer.ts'

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
