import { CONTENTION, type ErrorExample, type ErrorKindDocument, FAULT, KEY, TOO_LARGE } from './error-causes.ts'

function video(summary: string, error: string, details?: readonly object[]): ErrorExample {
  return { summary, value: details === undefined ? { error } : { error, details } }
}

/** Errors below `/v1/video/`, by status. */
export const VIDEO_ERRORS = {
  400: {
    name: 'VideoBadRequest',
    description: 'The body, the query of a list, or a too long `Idempotency-Key`; `details` says what to mend.',
    examples: {
      duration: video('A length that the model does not have', 'invalid request body', [
        { path: 'duration', message: '`duration` must be from 3 to 10 seconds for famA-1-pro' },
      ]),
    },
  },
  401: {
    name: 'VideoUnauthorized',
    description: KEY,
    examples: { key: video('No valid key', 'invalid api key') },
  },
  402: {
    name: 'VideoPaymentRequired',
    description:
      'The estimate is more than the balance; nothing was created. `details` says what is needed and what is there.',
    examples: {
      quota: video('Too little quota', 'insufficient quota for this video generation', [
        { path: '', message: '0.7 credits are needed, but 0.69 are available' },
      ]),
    },
  },
  404: {
    name: 'VideoNotFound',
    description: 'No such job of the tenant.',
    examples: { job: video('No such job', 'video job not found') },
  },
  409: {
    name: 'VideoConflict',
    description: 'The `Idempotency-Key` was used with another body, or its job was deleted.',
    examples: { reused: video('Key used before', 'idempotency key reused with a different body') },
  },
  413: {
    name: 'VideoContentTooLarge',
    description: TOO_LARGE,
    examples: { body: video('Body too large', 'request body too large') },
  },
  429: {
    name: 'VideoTooManyRequests',
    description:
      'More requests than the key may make, or more open jobs than the tenant may have: try again after `Retry-After`.',
    examples: {
      rate: video('Too many requests', 'rate limit exceeded'),
      jobs: video('Too many open jobs', 'too many open video jobs'),
    },
  },
  500: {
    name: 'VideoInternalError',
    description: FAULT,
    examples: { fault: video('Our fault', 'internal error') },
  },
  503: {
    name: 'VideoServiceUnavailable',
    description: CONTENTION,
    examples: { contention: video('Contention', 'service unavailable') },
  },
} as const satisfies Readonly<Record<number, ErrorKindDocument>>
