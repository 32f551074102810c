import type { Caller } from '#adapters/store/accounts/api-key-record.ts'

/** One request that is to be relayed, after its key and its body were read. */
export type RelayRequest = {
  /** The one id of this request: in logs, on the answer, in the ledger. */
  readonly requestId: string
  /** When it came, as a time of `performance.now()`. */
  readonly receivedAt: number
  /** Whom the key names; perhaps by a record that is up to a minute old. */
  readonly caller: Caller
  /** Proves by a fresh read that the key is still valid, where no reservation does. @throws InvalidApiKeyError */
  readonly confirmCaller: () => Promise<void>
  /** The body as it came: valid JSON. */
  readonly bodyText: string
  readonly bodyBytes: number
  readonly json: unknown
  /** `X-Session-ID`, by which the requests of a session stay with one channel. */
  readonly sessionId: string | undefined
  /**
   * Answers with an error, unless an answer has begun. What fails after something was billed is told in a way that no SDK
   * tries again by itself.
   */
  readonly tellFailure: (error: unknown, how: { readonly isBilled: boolean }) => void
  /**
   * Says in a header of the response which fields of the body were left out of what the upstream got. The last word counts:
   * each channel decides anew.
   */
  readonly tellIgnored: (names: readonly string[]) => void
  /** Collects what the log line of the request says besides status and duration; never prompts, answers or keys. */
  readonly note: (facts: Readonly<Record<string, string | number | boolean | undefined>>) => void
}

/** Status and headers of an answer, as the client gets them. */
export type AnswerHead = { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> }

/** The way to the client. Nothing has reached it before `open`; nothing here ever rejects or throws because it left. */
export interface AnswerWriter {
  open(head: AnswerHead): void
  /** False when the client is behind: {@link drained} tells when there is room again. */
  write(chunk: Buffer | string): boolean
  drained(): Promise<void>
  /** The last byte has been handed over. */
  end(): void
  readonly isOpen: boolean
  /** Nothing goes out before `end`: what is written is held. */
  readonly isBuffered?: boolean
  /** The client has left, or the function's time is nearly up: nothing more is sent, and what is owed is settled soon. */
  readonly gone: AbortSignal
}
