import * as z from 'zod'
import { callbackAttemptResponse, isoTimeField, pageFields } from '#core/admin/read-responses.ts'
import { listCallbackAttempts } from '#lambdas/admin/callback-attempts.ts'
import { documentOperation } from './document.ts'

const attempt = z.strictObject({
  job_id: z.uuid(),
  url_host: z.string(),
  ...callbackAttemptResponse.shape,
  at: isoTimeField,
  may_resend: z.boolean(),
})

/** The operation, as people read about it. */
export const listCallbackAttemptsDocument = documentOperation(listCallbackAttempts, {
  summary: 'list callback attempts of a tenant',
  description: 'Of its newest jobs.',
  returns: 'Attempts, newest job first.',
  output: z.strictObject({ attempts: z.array(attempt), ...pageFields }),
})

/** The part of the response that has a name of its own in `admin-openapi.json`. */
export const CALLBACK_SCHEMAS = { ListedCallbackAttempt: attempt }
