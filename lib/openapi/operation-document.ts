import type { OperationObject, Parameter } from './openapi-types.ts'
import type { RequestName } from './request-schemas.ts'

/** The description of one operation. ROUTES has its method, path and statuses. */
export type OperationDocument = {
  readonly tag: Tag
  /** A phrase for menus. */
  readonly summary: string
  /** Sentences of Markdown. */
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly request?: RequestName
  readonly response: {
    readonly description: string
    /** Name of a schema of the document. */
    readonly schema: ResponseName
    /** Schema of the data of one event, if a client may ask for a stream. */
    readonly events?: ResponseName
    /** What a stream says besides its events, and how it ends; by default that of a relayed one. */
    readonly stream?: string
    /** What a 204 means, for a route that responds with it. */
    readonly complete?: string
    /** Headers besides those of every response. */
    readonly headers?: readonly HeaderName[]
  }
  /** Requests from the gateway to the client, by the expression for their url. */
  readonly callbacks?: NonNullable<OperationObject['callbacks']>
}

/** Groups of operations, in display order. */
export const TAGS = {
  Video: 'Asynchronous video jobs: create, fetch, list, delete, and one signed callback.',
  Models: 'The models that a key may use.',
  Chat: 'Chat completions, whole or streamed.',
  Completions: 'Legacy text completions, made by chat models.',
  Embeddings: 'Vectors of strings.',
  Images: 'Images from prompts.',
  Usage: 'What was used, what it cost, and what is left.',
  Service: 'The service itself, without a key.',
} as const

type Tag = keyof typeof TAGS
type ResponseName = keyof typeof import('./response-schemas.ts').RESPONSE_SCHEMAS
export type HeaderName = keyof typeof import('./response-headers.ts').HEADERS
