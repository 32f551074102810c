import { expect } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { limitsOf } from '#core/identity.ts'
import { subjectDigest } from '#core/refused-key.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { admitSubject, subjectKeyId } from '#store/keys/subject-keys.ts'
import { reserveJob } from '../../engines/video-jobs.ts'
import {
  type AuditedEffect,
  type AuditedStage,
  afterRun,
  given,
  type Options,
  ofKey,
  ofTenant,
} from './audited-stage.ts'

const ANY = expect.any(String)
const UNKNOWN_ID: Options = { ID: 'mian' }
const DISABLED = { state: 'disabled' }

const ofJob = async ({ table, tenant }: AuditedStage) => ({ job: (await reserveJob(table, tenant)).jobId })

const JOBS: readonly AuditedEffect[] = [
  {
    command: 'job cancel',
    options: ofJob,
    refused: { job: uuidv7() },
    entry: { kind: 'job', before: { status: 'queued' }, after: { status: 'failed' } },
    repeat: 'nothing',
  },
  {
    command: 'job redrive',
    options: ofJob,
    refused: { job: uuidv7() },
    entry: { kind: 'job', before: { execution: ANY, state: 'missing' }, after: { execution: ANY, state: 'started' } },
    repeat: 'another entry',
  },
]

const SWITCHES: readonly AuditedEffect[] = [
  {
    command: 'channel disable',
    options: given({ ID: 'main' }),
    refused: UNKNOWN_ID,
    entry: { kind: 'channel', before: { state: null }, after: DISABLED },
    repeat: 'nothing',
  },
  {
    command: 'channel enable',
    options: afterRun('channel disable', given({ ID: 'main' })),
    refused: UNKNOWN_ID,
    entry: { kind: 'channel', before: DISABLED, after: { state: null } },
    repeat: 'nothing',
  },
  {
    command: 'channel clear',
    options: afterRun('channel disable', given({ ID: 'main' })),
    refused: UNKNOWN_ID,
    entry: { kind: 'channel', before: DISABLED, after: { state: null } },
    repeat: 'nothing',
  },
  {
    command: 'model disable',
    options: given({ ID: 'famA-2' }),
    refused: UNKNOWN_ID,
    entry: { kind: 'model', before: { state: null }, after: DISABLED },
    repeat: 'nothing',
  },
  {
    command: 'model enable',
    options: afterRun('model disable', given({ ID: 'famA-2' })),
    refused: UNKNOWN_ID,
    entry: { kind: 'model', before: DISABLED, after: { state: null } },
    repeat: 'nothing',
  },
  {
    command: 'model clear',
    options: afterRun('model disable', given({ ID: 'famA-2' })),
    refused: UNKNOWN_ID,
    entry: { kind: 'model', before: DISABLED, after: { state: null } },
    repeat: 'nothing',
  },
  {
    command: 'channel weight',
    options: given({ ID: 'main', WEIGHT: '2' }),
    refused: { WEIGHT: 'heavy' },
    entry: { kind: 'channel', before: { weight: null }, after: { weight: 2 } },
    repeat: 'nothing',
  },
  {
    command: 'channel priority',
    options: given({ ID: 'main', PRIORITY: '2' }),
    refused: { PRIORITY: 'high' },
    entry: { kind: 'channel', before: { priority: null }, after: { priority: 2 } },
    repeat: 'nothing',
  },
]

/** The secret of a front door as CloudFormation generates it. */
function frontDoor({ secret }: AuditedStage): Options {
  secret.text = '{"current":"a-value-of-the-front-door"}'
  return {}
}

const SECRETS: readonly AuditedEffect[] = [
  {
    command: 'secret set',
    options: given({ NAME: 'MAIN_KEY', 'value-from-stdin': true }),
    refused: { NAME: 'OTHER' },
    entry: { kind: 'secret', before: { state: 'missing' }, after: { channels: ['main'], state: 'set' } },
    repeat: 'nothing',
  },
  {
    command: 'secret remove',
    options: afterRun('secret set', given({ NAME: 'MAIN_KEY', 'value-from-stdin': true })),
    refused: { NAME: 'OTHER' },
    entry: { kind: 'secret', before: { state: 'set' }, after: { channels: ['main'], state: 'missing' } },
    repeat: 'nothing',
  },
  {
    command: 'front-door rotate',
    options: frontDoor,
    refused: {},
    entry: { kind: 'secret', before: null, after: { state: 'rotated' } },
    repeat: 'nothing',
    isRecorded: 'after',
  },
  {
    command: 'front-door finish',
    options: async (stage) => {
      await stage.run('front-door rotate', frontDoor(stage))
      return {}
    },
    refused: {},
    entry: { kind: 'secret', before: null, after: { state: 'finished' } },
    repeat: 'nothing',
    isRecorded: 'after',
  },
  {
    command: 'console oidc-secret set',
    options: (stage) => ({ ...frontDoor(stage), 'value-from-stdin': true }),
    refused: {},
    entry: { kind: 'secret', before: { state: 'missing' }, after: { state: 'set' } },
    repeat: 'nothing',
  },
  {
    command: 'console oidc-secret remove',
    options: async (stage) => {
      await stage.run('console oidc-secret set', { ...frontDoor(stage), 'value-from-stdin': true })
      return {}
    },
    refused: {},
    entry: { kind: 'secret', before: { state: 'set' }, after: { state: 'missing' } },
    repeat: 'nothing',
  },
  {
    command: 'cdn-key rotate',
    options: given({}),
    refused: {},
    entry: { kind: 'cdn-key', before: null, after: { state: 'signs' } },
    repeat: 'another entry',
    isRecorded: 'after',
  },
  {
    command: 'cdn-key remove',
    options: given({ 'key-pair-id': 'K0' }),
    refused: { 'key-pair-id': 'K1' },
    entry: { kind: 'cdn-key', before: { state: 'verifies' }, after: null },
    repeat: 'another entry',
    isRecorded: 'after',
  },
  {
    command: 'cdn-key import',
    options: ({ brought }) => ({ 'key-pair-id': brought.keyPairId, 'private-key-file': brought.file }),
    refused: { 'key-pair-id': 'K404' },
    entry: { kind: 'cdn-key', before: null, after: { state: 'signs' } },
    repeat: 'nothing',
    isRecorded: 'after',
  },
]

const ADA: Options = { name: 'ada', role: 'owner' }

const CONSOLE_KEYS: readonly AuditedEffect[] = [
  {
    command: 'console key create',
    options: given(ADA),
    refused: { role: 'king' },
    entry: { kind: 'console', before: null, after: { name: 'ada', role: 'owner' } },
    repeat: 'another entry',
  },
  {
    command: 'console key revoke',
    options: async (stage) => {
      const { json } = await stage.run('console key create', ADA)
      return { key: String(Object(json).id) }
    },
    refused: { key: 'none' },
    entry: { kind: 'console', before: { state: 'active' }, after: { state: 'revoked' } },
    repeat: 'nothing',
  },
]

/** Effects on jobs, switches, secrets and keys of the console. */
export const STAGE_EFFECTS: readonly AuditedEffect[] = [...JOBS, ...SWITCHES, ...SECRETS, ...CONSOLE_KEYS]

const ISO_TIME = expect.stringMatching(/^\d{4}-.*Z$/)

const NOBODY: Options = { tenant: 'nobody' }
const NO_KEY: Options = { key: 'none' }

const TENANTS: readonly AuditedEffect[] = [
  {
    command: 'tenant create',
    options: given({ name: 'New', credits: '1' }),
    refused: { credits: 'many' },
    entry: { kind: 'tenant', before: null, after: { amount: '1', name: 'New', openJobs: 10 } },
    repeat: 'nothing',
  },
  {
    command: 'tenant grant',
    options: ofTenant({ credits: '1' }),
    refused: NOBODY,
    entry: { kind: 'tenant', before: null, after: { amount: '1', reference: ANY } },
    repeat: 'another entry',
  },
  {
    command: 'tenant grant',
    options: ofTenant({ credits: '1', id: 'invoice-1' }),
    refused: { credits: '0' },
    entry: { kind: 'tenant', before: null, after: { amount: '1', reference: 'invoice-1' } },
    repeat: 'nothing',
  },
  {
    command: 'tenant adjust',
    options: ofTenant({ amount: '-1', reason: 'why' }),
    refused: { amount: '-100.000001' },
    entry: { kind: 'tenant', before: null, after: { amount: '-1', reason: 'why', reference: ANY } },
    repeat: 'another entry',
  },
  {
    command: 'tenant adjust',
    options: ofTenant({ amount: '-101', reason: 'why', id: 'ticket-1', 'allow-debt': true }),
    refused: NOBODY,
    entry: { kind: 'tenant', before: null, after: { amount: '-101', reason: 'why', reference: 'ticket-1' } },
    repeat: 'nothing',
  },
  {
    command: 'tenant suspend',
    options: ofTenant({ reason: 'unpaid' }),
    refused: NOBODY,
    entry: { kind: 'tenant', before: { state: 'active' }, after: { reason: 'unpaid', state: 'suspended' } },
    repeat: 'nothing',
  },
  {
    command: 'tenant resume',
    options: afterRun('tenant suspend', ofTenant()),
    refused: NOBODY,
    entry: { kind: 'tenant', before: { state: 'suspended' }, after: { state: 'active' } },
    repeat: 'nothing',
  },
  {
    command: 'tenant limit',
    action: 'tenant set',
    options: ofTenant({ 'open-jobs': '5' }),
    refused: { 'open-jobs': 'many' },
    entry: { kind: 'tenant', before: { openJobs: null }, after: { openJobs: 5 } },
    repeat: 'nothing',
  },
  {
    command: 'tenant budget',
    action: 'tenant set',
    options: ofTenant({ amount: '5', period: 'month' }),
    refused: { period: 'year' },
    entry: { kind: 'tenant', before: { budget: null }, after: { budget: '5/month' } },
    repeat: 'nothing',
  },
  {
    command: 'tenant users',
    action: 'tenant set',
    options: ofTenant({ keep: 'digest' }),
    refused: NOBODY,
    entry: { kind: 'tenant', before: { users: 'off' }, after: { users: 'digest' } },
    repeat: 'nothing',
  },
  {
    command: 'tenant alerts',
    options: ofTenant({ url: 'https://hooks.example.com/secret-path', 'low-balance': '5' }),
    refused: { url: 'nowhere' },
    entry: {
      kind: 'tenant',
      before: { alertOrigin: null, lowBalance: null },
      after: { alertOrigin: 'https://hooks.example.com', lowBalance: '5' },
    },
    repeat: 'nothing',
  },
  {
    command: 'callback-secret rotate',
    options: ofTenant(),
    refused: NOBODY,
    entry: { kind: 'tenant', before: null, after: { until: ISO_TIME } },
    repeat: 'another entry',
  },
]

/** The key of a subject, revoked. */
const ofRevokedSubject = async ({ table, tenant: { tenantId } }: AuditedStage): Promise<Options> => {
  const digest = subjectDigest('me')
  const limits = limitsOf({ name: 'ci', when: {}, tenant: tenantId, rate: 60 })
  await admitSubject(table, { digest, issuer: 'https://issuer.example.com', subject: 'me', tenantId, limits }, 0)
  await revokeApiKey(table, subjectKeyId(digest), { name: 'tester@test', role: 'operator' })
  return { key: subjectKeyId(digest) }
}

const KEYS: readonly AuditedEffect[] = [
  {
    command: 'key create',
    options: ofTenant({ name: 'shop' }),
    refused: NOBODY,
    entry: { kind: 'key', before: null, after: { expires: null, models: null, name: 'shop', rate: 300 } },
    repeat: 'another entry',
  },
  {
    command: 'key create',
    options: ofTenant({ budget: '5/day' }),
    refused: { budget: '5' },
    entry: {
      kind: 'key',
      before: null,
      after: { budget: '5/day', expires: null, models: null, name: null, rate: 300 },
    },
    repeat: 'another entry',
  },
  {
    command: 'key set',
    options: ofKey({ rate: '30' }),
    refused: { rate: '0' },
    entry: { kind: 'key', before: { rate: null }, after: { rate: 30 } },
    repeat: 'nothing',
  },
  {
    command: 'key set',
    options: ofKey({ budget: '5/month' }),
    refused: { budget: '5/year' },
    entry: { kind: 'key', before: { budget: null }, after: { budget: '5/month' } },
    repeat: 'nothing',
  },
  {
    command: 'key rotate',
    options: ofKey(),
    refused: NO_KEY,
    entry: { kind: 'key', before: { expires: null }, after: { expires: ISO_TIME, replacedBy: ANY } },
    repeat: 'another entry',
  },
  {
    command: 'key revoke',
    options: ofKey(),
    refused: NO_KEY,
    entry: { kind: 'key', before: { state: 'active' }, after: { state: 'revoked' } },
    repeat: 'nothing',
  },
  {
    command: 'key restore',
    options: ofRevokedSubject,
    refused: NO_KEY,
    entry: { kind: 'key', before: { state: 'revoked' }, after: { state: 'active' } },
    repeat: 'nothing',
  },
]

/** Effects on tenants and keys. */
export const ACCOUNT_EFFECTS: readonly AuditedEffect[] = [...TENANTS, ...KEYS]
