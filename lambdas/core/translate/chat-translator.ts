import type { ErrorFacts } from '../api/error-form.ts'
import type { JsonObject } from '../json/parse-json-text.ts'
import type { Microcredits } from '../money.ts'
import type { TokenCounts } from '../pricing/token-usage.ts'

/** What a translated reply says of its usage. */
export type ShownUsage = { readonly counts: TokenCounts | undefined; readonly cost: Microcredits | undefined }

/** Translates the reply of a chat upstream to another API, chunk by chunk. The whole reply is what its events come to. */
export interface ChatTranslator {
  /** Whether any event was written. */
  readonly hasBegun: boolean
  /** Why the reply cannot be told in the other API; the events up to there have been written. */
  readonly problem: string | undefined
  /** The events for one chunk; empty for one that adds nothing. @throws EndlessEventError */
  chunk(chunk: JsonObject): string
  /** The last events, after the last chunk. */
  end(usage: ShownUsage): string
  /** The last event of a reply that breaks off. */
  fail(error: ErrorFacts): string
  /** The whole reply, after its end. */
  readonly reply: JsonObject
}
