import { CONTENTION, type ErrorExample, type ErrorKindDocument, FAULT, KEY, TOO_LARGE } from './error-causes.ts'

function video(summary: string, error: string, details?: readonly object[]): ErrorExample {
  return { summary, value: details === undefined ? { error } : { error, details } }
}

/** Errors below `/v1/video/`, by status. */
export const VIDEO_ERRORS = {
  400: {
    name: 'VideoBadRequest',
    description: 'Invalid body, query, or `Idempotency-Key`. `details` says what to correct.',
    examples: {
      duration: video('An unsupported duration', 'invalid request body', [
        { path: 'duration', message: '`duration` must be from 3 to 10 seconds for famA-1-pro' },
      ]),
      strict: video('An unknown field, with Prefer: handling=strict', 'invalid request body', [
        { path: 'durration', message: 'the field `durration` would be ignored: correct its name or leave it out' },
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
      'The estimate exceeds the balance, or what a budget has left; nothing was created. `details` says what is needed and what is there.',
    examples: {
      quota: video('Too little quota', 'insufficient quota for this video generation', [
        { path: '', message: '0.7 credits are needed, but 0.69 are available' },
      ]),
      budget: video('Too little left of a budget', 'budget exceeded', [
        {
          path: '',
          message:
            '0.7 credits are needed, but 0.2 are left in the daily budget of this api key until 2026-11-23T00:00:00Z',
        },
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
    description:
      'Create: the `Idempotency-Key` was used with another body, or its job was deleted. Other routes: the state of the job does not allow it.',
    examples: {
      reused: video('Key used before', 'idempotency key reused with a different body'),
      ended: video('A cancel of an ended job', 'the job has ended: there is nothing to cancel'),
      open: video('A callback of an open job', 'the job has not ended: its callback is sent when it ends'),
    },
  },
  413: {
    name: 'VideoContentTooLarge',
    description: TOO_LARGE,
    examples: { body: video('Body too large', 'request body too large') },
  },
  429: {
    name: 'VideoTooManyRequests',
    description:
      'The key is above its rate or has too many open streams of events, or the tenant has too many open jobs. Retry after `Retry-After`.',
    examples: {
      rate: video('Too many requests', 'rate limit exceeded'),
      jobs: video('Too many open jobs', 'too many open video jobs'),
      streams: video('Too many open streams of events', 'too many event streams'),
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
