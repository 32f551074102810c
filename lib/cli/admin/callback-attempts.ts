import * as z from 'zod'
import { callbackAttemptResponse, isoTimeField, pageFields } from '#core/admin/read-responses.ts'
import { listCallbackAttempts } from '#lambdas/admin/callback-attempts.ts'
import { formatTable } from '../output.ts'
import { type Command, readCount } from './command.ts'
import { documentOperation } from './document.ts'
import { commandOf } from './operation-command.ts'
import { TENANT } from './read-options.ts'

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

/** Lists the callback attempts of the newest jobs of a tenant. */
export const callbackList: Command = commandOf(listCallbackAttemptsDocument, {
  name: 'callback list',
  details: 'RESEND says whether the callback of the job may be sent once more.',
  options: {
    tenant: TENANT,
    limit: { value: 'N', summary: 'maximum number of attempts; default: 50', read: (text) => readCount('limit', text) },
  },
  examples: ['callback list --tenant demo --local', 'callback list --tenant demo --limit 200 --json'],
  format: ({ attempts }) =>
    formatTable(
      ['AT', 'JOB', 'HOST', 'ATTEMPT', 'STATUS', 'MS', 'DELIVERED', 'ERROR', 'RESEND'],
      attempts.map(({ at, job_id: job, url_host: host, attempt: number, status, milliseconds, ...rest }) => [
        ...[at, job, host, String(number), status === null ? null : String(status), String(milliseconds)],
        ...[rest.delivered ? 'yes' : 'no', rest.error, rest.may_resend ? 'yes' : 'no'],
      ]),
    ),
})
