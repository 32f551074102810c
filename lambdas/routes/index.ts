import { matchPath } from '../core/api/paths.ts'
import { methodsOf } from './define-route.ts'
import { getModel, listModels } from './models.ts'
import * as relayed from './relayed.ts'
import { getHealth, getOpenapiDocument } from './service.ts'
import { getBalance, getUsage } from './usage.ts'
import * as videoJobs from './video-jobs.ts'

/** Every operation of the client API, in the order of the OpenAPI document. */
export const ROUTES = [
  videoJobs.createVideoJob,
  videoJobs.listVideoJobs,
  videoJobs.getVideoJob,
  videoJobs.deleteVideoJob,
  videoJobs.getVideoReceipt,
  videoJobs.cancelVideoJob,
  videoJobs.resendVideoCallback,
  videoJobs.getVideoEvents,
  videoJobs.createVideoQuote,
  listModels,
  getModel,
  relayed.createChatCompletion,
  relayed.createResponse,
  relayed.createMessage,
  relayed.countMessageTokens,
  relayed.createCompletion,
  relayed.createEmbedding,
  relayed.createImage,
  getUsage,
  getBalance,
  getOpenapiDocument,
  getHealth,
] as const

/** Name of an operation, such as `create-video-job`. */
export type Operation = (typeof ROUTES)[number]['operation']

/** Every route, such as `GET /v1/models`. */
export const SERVED: readonly string[] = ROUTES.map(({ method, path }) => `${method} ${path}`)

/** The methods of a concrete path; empty for an unknown one. */
export function allowedMethods(path: string): readonly string[] {
  return ROUTES.filter((route) => matchPath(route.path, path) !== undefined).flatMap(methodsOf)
}
