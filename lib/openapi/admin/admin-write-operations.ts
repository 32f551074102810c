import type { AdminOperationOf } from '#core/admin/routes.ts'
import type { AdminOperationDocument } from './admin-operation-document.ts'

const TENANT = { description: 'The tenant.', schema: 'ChangedTenant' } as const
const SWITCHES_SEEN =
  'Every instance sees it within 15 seconds. Switches are kept over deployments until they are cleared.'

/** The function that changes things. A new row of its routes does not compile without a description here. */
export const ADMIN_WRITE_OPERATIONS = {
  'create-tenant': {
    summary: 'Make a tenant',
    description: 'It has no credits before a grant.',
    request: 'CreateTenantRequest',
    response: TENANT,
  },
  'change-tenant': {
    summary: 'Change a tenant',
    description: 'All of the changes or none. Fields that are left out stay as they are.',
    request: 'ChangeTenantRequest',
    response: TENANT,
  },
  'grant-credits': {
    summary: 'Grant credits',
    description: 'Once for each `id`. The same `id` with another amount is a 409 with code `id_taken`.',
    request: 'GrantRequest',
    response: { description: 'The grant, and the tenant after it.', schema: 'Grant' },
  },
  'adjust-credits': {
    summary: 'Correct a balance',
    description:
      'Moves what is available and what was granted alike, once for each `id`. Below zero is a 409 with code `below_zero`, unless `allow_debt` is true.',
    request: 'AdjustmentRequest',
    response: { description: 'The correction, and the tenant after it.', schema: 'Adjustment' },
  },
  'suspend-tenant': {
    summary: 'Suspend a tenant',
    description: 'Every key is refused from its next request on. Jobs and requests that run end as usual.',
    request: 'SuspensionRequest',
    response: TENANT,
  },
  'resume-tenant': {
    summary: 'End a suspension',
    description: 'Keys that are neither revoked nor expired work again.',
    response: TENANT,
  },
  'reveal-callback-secret': {
    summary: 'Show or rotate the callback secret',
    description:
      'The audit log says who saw it. A rotation while an earlier one is under way is a 409 with code `rotated_already`, unless `again` is true.',
    request: 'CallbackSecretRequest',
    response: { description: 'The secrets.', schema: 'CallbackSecret' },
  },
  'create-key': {
    summary: 'Make an API key',
    request: 'CreateKeyRequest',
    response: { description: 'The key, shown once.', schema: 'NewKey' },
  },
  'change-key': {
    summary: 'Change an API key',
    description:
      'All of the changes or none, from the next request of the key on. Fields that are left out stay as they are.',
    request: 'ChangeKeyRequest',
    response: { description: 'The key.', schema: 'ChangedKey' },
  },
  'rotate-key': {
    summary: 'Replace an API key',
    description:
      'The new key has the limits and the budget of the old one, which keeps working for the overlap. A second rotation is a 409 with code `rotated_already`, unless `again` is true.',
    request: 'RotationRequest',
    response: { description: 'The new key, shown once.', schema: 'RotatedKey' },
  },
  'revoke-key': {
    summary: 'Revoke an API key',
    description: 'It is refused from its next request on, permanently.',
    response: { description: 'The key.', schema: 'ChangedKey' },
  },
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
  'change-channel': {
    summary: 'Switch a channel',
    description: `All of the changes or none. ${SWITCHES_SEEN}`,
    request: 'ChangeChannelRequest',
    response: { description: 'What is in force now.', schema: 'ChannelSwitches' },
  },
  'clear-channel': {
    summary: 'Clear the switches of a channel',
    description: 'The configuration decides again.',
    response: { description: 'What is in force now.', schema: 'ChannelSwitches' },
  },
  'change-model': {
    summary: 'Switch a model',
    description: SWITCHES_SEEN,
    request: 'ChangeModelRequest',
    response: { description: 'What is in force now.', schema: 'ModelSwitches' },
  },
  'clear-model': {
    summary: 'Clear the switches of a model',
    description: 'The configuration decides again.',
    response: { description: 'What is in force now.', schema: 'ModelSwitches' },
  },
  'create-playground-key': {
    summary: 'Make a key for the playground',
    description:
      'A session of an API key gets one with the models, the rate and the budget of that key, which ends with that key. An owner names a tenant. A viewer gets a 403.',
    request: 'PlaygroundKeyRequest',
    response: { description: 'The key, which works for 15 minutes.', schema: 'PlaygroundKey' },
  },
} as const satisfies Readonly<Record<AdminOperationOf<'write'>, AdminOperationDocument>>
