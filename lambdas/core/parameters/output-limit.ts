/** The fields by which upstreams limit a completion: the older one, which most know, and the newer one of OpenAI. */
export const OUTPUT_LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const
/** One of {@link OUTPUT_LIMIT_FIELDS}. */
export type OutputLimitField = (typeof OUTPUT_LIMIT_FIELDS)[number]

/** The client's limits; null and undefined mean no limit. */
export type AskedLimits = Readonly<Partial<Record<OutputLimitField, number | null | undefined>>>

/** A change to the limit in a body. */
export type LimitChange = {
  readonly write?: { readonly name: OutputLimitField; readonly tokens: number }
  readonly leaveOut?: OutputLimitField
}

type Upstream = {
  /** The field that the channel needs; undefined if the client's will do. */
  readonly wanted: OutputLimitField | undefined
  /** The limit for a client that sets none; undefined to leave the limit to the upstream. */
  readonly fallback: number | undefined
}

/** Adapts the limit of a request to an upstream. A limit in the right field keeps its bytes; of two limits, the smaller counts. */
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
