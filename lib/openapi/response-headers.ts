const text = (description: string) => ({ description, schema: { type: 'string' } })
const seconds = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })

/** The headers of responses, by name. */
export const HEADERS = {
  'x-request-id': text('Id of the request. Quote it when you ask about the request.'),
  'openai-processing-ms': {
    description: 'Milliseconds until the response began.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Retry-After': seconds('Seconds to wait before a retry.'),
  'x-should-retry': {
    description: '`false`: do not retry automatically, because a retry could be billed again.',
    schema: { type: 'string', enum: ['false'] },
  },
  'x-reelgate-cost': text(
    'What the request costs, in credits, such as `0.005195`. Absent if nothing is billed, from streams, and from responses so large that they are relayed while they arrive.',
  ),
  'x-reelgate-ignored': text(
    'Ignored fields of the body and ignored query parameters, such as `durration, messages.content.cache_control`: percent-encoded, at most 20 and 1 KB. Absent if there are none.',
  ),
  'Preference-Applied': text('`handling=strict` if the request asked for that in `Prefer`.'),
  'x-ratelimit-limit-requests': text('Requests per minute that the key may make, if it has a rate.'),
  'x-ratelimit-remaining-requests': text('Requests that the key may make now, if it has a rate.'),
  'x-ratelimit-reset-requests': text(
    'Time until the full burst is available again, such as `8.64s`, if the key has a rate.',
  ),
  ETag: text('Tag of this version of the document, for `If-None-Match`.'),
  'Cache-Control': text('How long a cache may keep the response.'),
  Vary: text('The request headers that the response depends on.'),
} as const
