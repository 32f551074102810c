import * as z from 'zod'
import { amountField, pageOf, timeField, usageCounts } from './response-parts.ts'

/** A row of the ledger. A relayed request has one row, written when it ends. */
const ledgerRow = z.strictObject({
  at: timeField.describe('When the row was written.'),
  began_at: timeField.describe('When the job or request began. The list is in this order.'),
  kind: z.enum(['grant', 'adjust', 'reserve', 'settle', 'release']),
  id: z.string().describe('The job or request, the grant or the correction.'),
  amount: amountField.describe('How the row changed what is available: with a sign.'),
  reserved: amountField.nullable().describe('What was reserved; null for a grant or a correction.'),
  actual: amountField.nullable().describe('What a settlement billed; null for every other kind.'),
  estimated: z.boolean().describe('Whether it was billed without reported usage.'),
  model: z.string().nullable(),
  operation: z.string().nullable(),
  key: z.string().nullable().describe('Public id of the API key.'),
  channel: z.string().nullable().describe('Where the row names one; null for tenants.'),
  usage: usageCounts.nullable(),
  reference: z.string().nullable().describe('The id of a grant or a correction, as the operator gave it.'),
  reason: z.string().nullable().describe('Why an operator moved credits; null for tenants.'),
})

/** Rows of the ledger of a tenant, newest first. */
export const ledgerListResponse = z.strictObject({
  ...pageOf(ledgerRow).shape,
  left_out: z
    .string()
    .nullable()
    .describe('What the list leaves out, and the command that shows it; null if it is complete.'),
})

/** The result of a verification. */
export const ledgerVerificationResponse = z.strictObject({
  object: z.literal('ledger.verification'),
  tenant: z.string(),
  ok: z.boolean(),
  broken: z.array(z.string()).describe('A sentence for every broken rule.'),
  checked_at: timeField,
  rows: z.int().describe('Rows of the ledger that were read.'),
})
