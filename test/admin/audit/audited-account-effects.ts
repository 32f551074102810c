import { expect } from 'vitest'
import { type AuditedEffect, afterRun, given, ofKey, ofTenant } from './audited-effect.ts'
import type { Options } from './audited-stage.ts'

const ANY = expect.any(String)
const ISO_TIME = expect.stringMatching(/^\d{4}-.*Z$/)

const NOBODY: Options = { tenant: 'nobody' }
const NO_KEY: Options = { key: 'none' }

const TENANTS: readonly AuditedEffect[] = [
  {
    command: 'tenant create',
    options: given({ name: 'New', credits: '1' }),
    refused: { credits: 'many' },
    entry: { kind: 'tenant', before: null, after: { amount: '1', name: 'New', openJobs: 10 } },
    repeat: 'another entry',
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

const KEYS: readonly AuditedEffect[] = [
  {
    command: 'key create',
    options: ofTenant({ name: 'shop' }),
    refused: NOBODY,
    entry: { kind: 'key', before: null, after: { expires: null, models: null, name: 'shop', rate: 60 } },
    repeat: 'another entry',
  },
  {
    command: 'key create',
    options: ofTenant({ budget: '5/day' }),
    refused: { budget: '5' },
    entry: { kind: 'key', before: null, after: { budget: '5/day', expires: null, models: null, name: null, rate: 60 } },
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
]

/** Effects on tenants and keys. */
export const ACCOUNT_EFFECTS: readonly AuditedEffect[] = [...TENANTS, ...KEYS]
