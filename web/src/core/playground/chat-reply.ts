/** A message of a conversation. */
export type ChatMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }

/** A reply as far as it has arrived. */
export type ChatReply = {
  readonly content: string
  readonly firstMilliseconds: number | undefined
  /** Until the last event; undefined before the first one. */
  readonly totalMilliseconds: number | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
  /** Credits, as the gateway writes them into the usage. */
  readonly cost: number | undefined
  readonly error: string | undefined
  readonly isDone: boolean
}

/** A reply before its first piece. */
export const FIRST_REPLY: ChatReply = {
  content: '',
  firstMilliseconds: undefined,
  totalMilliseconds: undefined,
  inputTokens: undefined,
  outputTokens: undefined,
  cost: undefined,
  error: undefined,
  isDone: false,
}

/** The error of a reply that was stopped on this page. */
export const STOPPED = 'Stopped'

/** What a screen reader is told about a reply. */
export function announcementOf(reply: ChatReply | undefined): string {
  if (reply === undefined) {
    return ''
  }
  const { isDone, error } = reply
  if (!isDone) {
    return 'The reply is arriving'
  }
  if (error === undefined) {
    return 'The reply is complete'
  }
  return error === STOPPED ? 'The reply was stopped' : 'The reply failed'
}

type Chunk = {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown; readonly reasoning_content?: unknown }
  }[]
  readonly usage?: {
    readonly prompt_tokens?: number
    readonly completion_tokens?: number
    readonly cost?: number
  } | null
  readonly error?: { readonly message?: unknown }
}

/** The reply after one event of the stream. @param elapsed milliseconds since the request was sent. */
export function afterChunk(reply: ChatReply, data: string, elapsed: number): ChatReply {
  if (data === '[DONE]') {
    return { ...reply, totalMilliseconds: elapsed, isDone: true }
  }
  const chunk = JSON.parse(data) as Chunk
  const piece = chunk.choices?.[0]?.delta?.content
  const text = typeof piece === 'string' ? piece : ''
  const { usage, error } = chunk
  return {
    ...reply,
    content: reply.content + text,
    firstMilliseconds: reply.firstMilliseconds ?? (text === '' ? undefined : elapsed),
    totalMilliseconds: elapsed,
    inputTokens: usage?.prompt_tokens ?? reply.inputTokens,
    outputTokens: usage?.completion_tokens ?? reply.outputTokens,
    cost: usage?.cost ?? reply.cost,
    error: typeof error?.message === 'string' ? error.message : reply.error,
  }
}

/** A number of credits without an exponent, such as `0.0000021`. */
export function plainNumber(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, '')
}
