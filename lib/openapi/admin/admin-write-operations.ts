import type { AdminOperationOf } from '#core/console/admin-routes.ts'
import type { AdminOperationDocument } from './admin-operation-document.ts'

/** The function that changes things. A new row of its routes does not compile without a description here. */
export const ADMIN_WRITE_OPERATIONS = {
  'create-tenant': { summary: 'Make a tenant', response: { description: 'The tenant.' } },
  'change-tenant': { summary: 'Change a tenant', response: { description: 'The tenant.' } },
  'grant-credits': { summary: 'Grant credits', response: { description: 'The tenant.' } },
  'adjust-credits': { summary: 'Correct a balance', response: { description: 'The tenant.' } },
  'suspend-tenant': { summary: 'Suspend a tenant', response: { description: 'The tenant.' } },
  'resume-tenant': { summary: 'End a suspension', response: { description: 'The tenant.' } },
  'reveal-callback-secret': { summary: 'Show or rotate the callback secret', response: { description: 'The secret.' } },
  'create-key': { summary: 'Make an API key', response: { description: 'The key, shown once.' } },
  'change-key': { summary: 'Change an API key', response: { description: 'The key.' } },
  'rotate-key': { summary: 'Replace an API key', response: { description: 'The new key, shown once.' } },
  'revoke-key': { summary: 'Revoke an API key', response: { description: 'The key.' } },
  'cancel-video': { summary: 'Cancel a video job', response: { description: 'The job.' } },
  'redrive-video': { summary: 'Run a failed execution again', response: { description: 'The job.' } },
  'resend-callback': { summary: 'Send a callback once more', response: { description: 'The attempt.' } },
  'delete-video': { summary: 'Delete a video job', response: { description: 'The job is deleted.' } },
  'change-channel': { summary: 'Switch a channel', response: { description: 'The switches.' } },
  'clear-channel': { summary: 'Clear the switches of a channel', response: { description: 'The switches.' } },
  'change-model': { summary: 'Switch a model', response: { description: 'The switches.' } },
  'clear-model': { summary: 'Clear the switches of a model', response: { description: 'The switches.' } },
  'create-playground-key': {
    summary: 'Make a key for the playground',
    response: { description: 'The key, which works for 15 minutes.' },
  },
} as const satisfies Readonly<Record<AdminOperationOf<'write'>, AdminOperationDocument>>
