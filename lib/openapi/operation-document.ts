import type { OperationObject, Parameter } from './openapi-types.ts'
import type { RequestName } from './request-schemas.ts'

/** What the document says of one operation; its method, path and statuses are in ROUTES. */
export type OperationDocument = {
  readonly tag: Tag
  /** A phrase, as a menu shows it. */
  readonly summary: string
  /** Sentences of Markdown. */
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly request?: RequestName
  readonly answer: {
    readonly description: string
    /** Name of a schema of the document. */
    readonly schema: AnswerName
    /** Schema of the data of one event, where a client may ask for a stream. */
    readonly events?: AnswerName
    /** Beside those of every answer. */
    readonly headers?: readonly HeaderName[]
  }
  /** A request of the gateway to the client, as OpenAPI writes it: by the expression for its url. */
  readonly callbacks?: NonNullable<OperationObject['callbacks']>
}

/** Groups of operations, in the order in which they are shown. */
export const TAGS = {
  Video: 'Asynchronous video jobs: create, fetch, list, delete, and one signed callback.',
  Models: 'What a key may use.',
  Chat: 'Chat completions, whole or streamed.',
  Completions: 'Legacy text completions, made by chat models.',
  Embeddings: 'Vectors of texts.',
  Images: 'Images of prompts.',
  Service: 'The service itself. Needs no key.',
} as const

type Tag = keyof typeof TAGS
type AnswerName = keyof typeof import('./answer-schemas.ts').ANSWERS
export type HeaderName = keyof typeof import('./answer-headers.ts').HEADERS
