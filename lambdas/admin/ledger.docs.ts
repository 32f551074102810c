import * as z from 'zod'
import { amountField, isoTimeField, pageFields, usageCounts } from '#core/admin/read-responses.ts'
import { LEDGER_KINDS } from '#core/pricing/usage.ts'
import { documentOperation } from './document.ts'
import { listLedger, verifyLedger } from './ledger.ts'

/** A row of the ledger. Fields that a row does not have are left out. */
const entry = z.strictObject({
  kind: z.enum(LEDGER_KINDS),
  job: z.string().nullable().describe('The job or request; null for a grant or a correction.'),
  amount: amountField.describe('Granted or reserved; added or, below zero, taken by a correction.'),
  actual: amountField.nullable().describe('What a settlement billed; null for every other kind.'),
  at: isoTimeField.describe('When the row was written.'),
  reserved_at: isoTimeField
    .exactOptional()
    .describe('When a relayed request began, whose one row stands for its reservation, too.'),
  estimated: z.literal(true).exactOptional().describe('Billed without reported usage.'),
  model: z.string().exactOptional(),
  operation: z.string().exactOptional(),
  key: z.string().exactOptional().describe('Public id of the API key.'),
  key_name: z.string().nullable().exactOptional().describe('With `key`: its name; null for a key without one.'),
  channel: z.string().exactOptional().describe('What served a settled job or request. Not for tenants.'),
  usage: usageCounts.exactOptional(),
  counted: z.literal(true).exactOptional().describe('A usage counter includes the settlement.'),
  id: z.string().exactOptional().describe('Of a grant or a correction, as the operator gave it.'),
  reason: z.string().exactOptional().describe('Why an operator moved credits. Not for tenants.'),
})

/** The operations of the ledger, as people read about them. */
export const LEDGER_DOCUMENTS = {
  listLedger: documentOperation(listLedger, {
    summary: 'list the ledger of a tenant',
    description: 'In the order in which jobs and requests began. A relayed request has one row, written when it ends.',
    returns: 'Rows, newest first.',
    output: z.strictObject({
      entries: z.array(entry),
      ...pageFields,
      left_out: z
        .string()
        .nullable()
        .describe('What the list leaves out, and the command that shows it; null if it is complete.'),
    }),
  }),
  verifyLedger: documentOperation(verifyLedger, {
    summary: 'check every invariant of the money of a tenant',
    description: 'Reads the whole tenant. A tenant that is too large is a 400 that names the command.',
    returns: 'The result.',
    output: z.strictObject({
      ok: z.boolean(),
      broken: z.array(
        z.strictObject({ tenant: z.string(), message: z.string().describe('A sentence about a broken rule.') }),
      ),
      as_of: isoTimeField.describe('When the tenant was checked.'),
    }),
  }),
}

/** The part of the responses that has a name of its own in `admin-openapi.json`. */
export const LEDGER_SCHEMAS = { LedgerEntry: entry }
