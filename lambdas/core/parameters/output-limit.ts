/** The names under which upstreams take the limit of one completion: the older, which most know, and OpenAI's own newer one. */
export const OUTPUT_LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const
/** One of {@link OUTPUT_LIMIT_FIELDS}. */
export type OutputLimitField = (typeof OUTPUT_LIMIT_FIELDS)[number]

/** What a client wrote, by name; null and undefined are no limit. */
export type AskedLimits = Readonly<Partial<Record<OutputLimitField, number | null | undefined>>>

/** How the limit of a body changes on its way. */
export type LimitChange = {
  readonly write?: { readonly name: OutputLimitField; readonly tokens: number }
  readonly leaveOut?: OutputLimitField
}

type Upstream = {
  /** The name that the channel wants; undefined where the client's own will do. */
  readonly wanted: OutputLimitField | undefined
  /** What is sent where the client wrote no limit; undefined to leave it to the upstream. */
  readonly fallback: number | undefined
}

/**
 * What becomes of the limit of a request. A limit that stands under the right name keeps its bytes. Of two limits the
 * smaller one is sent, which keeps what both promise.
 */
export function changeOutputLimit(asked: AskedLimits, { wanted, fallback }: Upstream): LimitChange {
  const limits = OUTPUT_LIMIT_FIELDS.flatMap((name) => asked[name] ?? [])
  const tokens = limits.length === 0 ? fallback : Math.min(...limits)
  if (tokens === undefined || (limits.length > 0 && wanted === undefined)) {
    return {}
  }
  const name = wanted ?? 'max_tokens'
  const other = name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  return {
    ...(asked[name] === tokens ? {} : { write: { name, tokens } }),
    ...(asked[other] === undefined ? {} : { leaveOut: other }),
  }
}
