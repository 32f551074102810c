import {
  callbackAttemptResponse,
  tenantName,
  videoDetailResponse,
  videoListResponse,
} from '#core/admin/read-responses.ts'
import type { AdminOperationOf } from '#core/admin/routes.ts'
import { createSessionRequest, switchSessionRequest } from '#core/admin/sign-in.ts'
import {
  sessionListResponse,
  sessionResponse,
  signInResponse,
  videoCancellationResponse,
  videoRedriveResponse,
} from '#core/admin/write-responses.ts'
import { modelPriceResponse, openaiErrorResponse } from '#core/api/responses.ts'
import { videoCallbackAttemptResponse, videoReceiptResponse } from '#core/api/video-responses.ts'

/** The description of one operation of the admin API. ADMIN_ROUTES has its method, path, role, query and statuses. */
export type AdminOperationDocument = {
  /** A phrase for menus. */
  readonly summary: string
  /** Sentences of Markdown. */
  readonly description?: string
  readonly request?: string
  readonly response: {
    readonly description: string
    /** Name of a schema of the document; `html` for a page; left out for a response without a body. */
    readonly schema?: string
  }
}

/** The function that makes and ends sessions. A new row of its routes does not compile without a description here. */
export const ADMIN_SIGN_IN_OPERATIONS = {
  'get-sign-in': {
    summary: 'How to sign in',
    response: { description: 'The ways to sign in.', schema: 'SignIn' },
  },
  'create-session': {
    summary: 'Sign in',
    description:
      'With an admin key, an API key or the secret of a one-time link. The response sets the cookie. Ten failures of one address within a minute are followed by 429.',
    request: 'CreateSession',
    response: { description: 'The session.', schema: 'Session' },
  },
  'get-session': {
    summary: 'The session',
    description: 'Notes, at most every five minutes, that the session is in use.',
    response: { description: 'The session.', schema: 'Session' },
  },
  'switch-session': {
    summary: 'Switch to another tenant',
    description: 'To the role of one of the `assignments` of the session.',
    request: 'SwitchSession',
    response: { description: 'The session.', schema: 'Session' },
  },
  'sign-out': { summary: 'Sign out', response: { description: 'The session is ended.' } },
  'list-sessions': {
    summary: 'List sessions',
    description: 'Your own; owners see all. Those whose key is revoked or has expired are left out.',
    response: { description: 'Sessions.', schema: 'SessionList' },
  },
  'sign-out-everywhere': {
    summary: 'End all your sessions',
    response: { description: 'The sessions are ended.' },
  },
  'end-session': {
    summary: 'End a session',
    description: 'Your own; owners may end every session.',
    response: { description: 'The session is ended.' },
  },
  'start-oidc': {
    summary: 'Sign in at an OpenID provider',
    response: { description: 'To the provider.' },
  },
  'finish-oidc': {
    summary: 'Where an OpenID provider sends the browser',
    response: { description: 'A page that goes on to the console.', schema: 'html' },
  },
} as const satisfies Readonly<Record<AdminOperationOf<'sign-in'>, AdminOperationDocument>>

/** The function that reads. A new row of its routes does not compile without a description here. */
export const ADMIN_READ_OPERATIONS = {
  'list-videos': {
    summary: 'List the video jobs of a tenant',
    response: { description: 'Jobs, newest first.', schema: 'VideoList' },
  },
  'get-video': {
    summary: 'Fetch a video job',
    response: { description: 'The job.', schema: 'VideoDetail' },
  },
} as const satisfies Readonly<Record<AdminOperationOf<'read'>, AdminOperationDocument>>

/** The function that changes things. A new row of its routes does not compile without a description here. */
export const ADMIN_WRITE_OPERATIONS = {
  'cancel-video': {
    summary: 'Cancel a video job',
    description: 'The job fails, its reservation is released, its upstream is asked to stop, and its callback is sent.',
    response: { description: 'The job.', schema: 'VideoCancellation' },
  },
  'redrive-video': {
    summary: 'Start an execution for an open job whose execution is missing or broken',
    description: 'Nothing is posted or billed twice.',
    response: { description: 'The execution.', schema: 'VideoRedrive' },
  },
  'resend-callback': {
    summary: 'Send a callback once more',
    description: 'Of an ended job, at most ten times. The same `webhook-id` as before.',
    response: { description: 'The attempt.', schema: 'VideoCallback' },
  },
  'delete-video': {
    summary: 'Delete a video job',
    description: 'The job and its video are gone at once. A job that runs is settled as usual.',
    response: { description: 'The job is deleted.' },
  },
} as const satisfies Readonly<Record<AdminOperationOf<'write'>, AdminOperationDocument>>

/** The request bodies of the admin API, by their names in the document. */
export const ADMIN_REQUEST_SCHEMAS = {
  CreateSession: createSessionRequest,
  SwitchSession: switchSessionRequest,
} as const

/** The responses of the admin API and their common parts, by their names in the document. */
export const ADMIN_RESPONSE_SCHEMAS = {
  SignIn: signInResponse,
  Session: sessionResponse,
  SessionList: sessionListResponse,
  VideoList: videoListResponse,
  VideoDetail: videoDetailResponse,
  VideoReceipt: videoReceiptResponse,
  CallbackAttempt: callbackAttemptResponse,
  VideoCancellation: videoCancellationResponse,
  VideoRedrive: videoRedriveResponse,
  VideoCallback: videoCallbackAttemptResponse,
  TenantName: tenantName,
  ModelPrice: modelPriceResponse,
  Error: openaiErrorResponse,
} as const
