import * as z from 'zod'
import { amountField, budgetResponse, pageOf, timeField } from './response-parts.ts'

/** A tenant, without its callback secret. */
export const tenantResponse = z.strictObject({
  id: z.string(),
  name: z.string(),
  state: z.enum(['active', 'suspended']),
  suspended_reason: z.string().nullable(),
  balance: z.strictObject({
    available: amountField.describe('What new requests may reserve. Negative after an overdraft.'),
    held: amountField.describe('Reserved by open requests and jobs.'),
    spent: amountField.describe('Settled since the tenant was created.'),
    granted: amountField.describe('available + held + spent.'),
  }),
  open_jobs: z.int(),
  open_jobs_max: z.int().nullable().describe('Null for as many as the tenant can pay for.'),
  budget: budgetResponse.nullable(),
})

/** A tenant with how it is alerted. */
export const tenantDetailResponse = z.strictObject({
  ...tenantResponse.shape,
  created_at: timeField,
  alerts: z.strictObject({
    thresholds: z.array(z.number()).describe('Percentages of every budget of the tenant.'),
    low_balance: amountField.nullable().describe('The balance below which an alert is sent; null for none.'),
    url_host: z.string().nullable().describe('Where the tenant gets its alerts; null if only operators get them.'),
  }),
})

/** Tenants by id. */
export const tenantListResponse = pageOf(z.strictObject({ ...tenantResponse.shape, created_at: timeField }))
