import type * as z from 'zod'
import { messagesErrorResponse } from './agent-responses.ts'
import {
  balanceResponse,
  healthResponse,
  modelListResponse,
  modelResponse,
  openaiErrorResponse,
  openapiDocumentResponse,
  usageResponse,
  videoErrorResponse,
} from './responses.ts'
import {
  createdVideoJobResponse,
  videoCallbackAttemptResponse,
  videoEventListResponse,
  videoEventResponse,
  videoJobCallback,
  videoJobDeletionResponse,
  videoJobListResponse,
  videoJobResponse,
  videoQuoteResponse,
  videoReceiptResponse,
} from './video-responses.ts'

/** The responses that the gateway makes itself, and the body of its callback, by their names in the OpenAPI document. */
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
  Usage: usageResponse,
  Balance: balanceResponse,
  Health: healthResponse,
  OpenapiDocument: openapiDocumentResponse,
  VideoError: videoErrorResponse,
  MessagesError: messagesErrorResponse,
  Error: openaiErrorResponse,
} as const

/** Name of a schema of a response. */
export type OutputName = keyof typeof RESPONSE_SCHEMAS

/** The body of a response, by the name of its schema. */
export type OutputOf<Name extends OutputName> = Unchanged<z.output<(typeof RESPONSE_SCHEMAS)[Name]>>

type Unchanged<T> = T extends object ? { readonly [Field in keyof T]: Unchanged<T[Field]> } : T
