import { v7 as uuidv7 } from 'uuid'
import { expect } from 'vitest'
import { reserveJob } from '../../engines/video-jobs.ts'
import { type AuditedEffect, afterRun, given } from './audited-effect.ts'
import type { AuditedStage, Options } from './audited-stage.ts'

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
    options: given({ ID: 'main', N: '2' }),
    refused: { N: 'heavy' },
    entry: { kind: 'channel', before: { weight: null }, after: { weight: 2 } },
    repeat: 'nothing',
  },
  {
    command: 'channel priority',
    options: given({ ID: 'main', N: '2' }),
    refused: { N: 'high' },
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
