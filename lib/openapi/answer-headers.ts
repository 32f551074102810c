const text = (description: string) => ({ description, schema: { type: 'string' } })
const seconds = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })

/** The headers of answers, by their names on the wire. */
export const HEADERS = {
  'x-request-id': text('Id of the request: quote it when you ask about one.'),
  'openai-processing-ms': {
    description: 'Milliseconds until the answer began.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Retry-After': seconds('Seconds after which another try makes sense.'),
  'x-should-retry': {
    description: '`false`: do not try again by yourself; it could be billed again.',
    schema: { type: 'string', enum: ['false'] },
  },
  'x-reelgate-ignored': text(
    'Fields of the body that were ignored, such as `durration, messages.content.cache_control`: each percent-encoded, at most 20 of them and 1 KB. Absent where there are none.',
  ),
  'x-ratelimit-limit-requests': text('Requests a minute that the key may make. Of a key with a limit of its own.'),
  'x-ratelimit-remaining-requests': text('Requests that are left now. Of a key with a limit of its own.'),
  'x-ratelimit-reset-requests': text(
    'Time until all of them are back, as in `8.64s`. Of a key with a limit of its own.',
  ),
  ETag: text('Tag of this version of the document, for `If-None-Match`.'),
  'Cache-Control': text('How long a cache may keep the answer.'),
  Vary: text('The request headers that the answer depends on.'),
} as const
