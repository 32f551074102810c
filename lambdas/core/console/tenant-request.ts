import * as z from 'zod'
import { OPEN_JOBS_DEFAULT } from '../default-limits.ts'
import { changeObject, requestObject } from './parse-request.ts'
import {
  againField,
  budgetField,
  nameField,
  overlapField,
  positiveCreditsField,
  reasonField,
  rowIdField,
  signedCreditsField,
} from './request-fields.ts'

const OPEN_JOBS_ALLOWED = 'use a whole number from 0 to 1000000, or null for no limit'

const openJobsField = z
  .int(OPEN_JOBS_ALLOWED)
  .min(0, OPEN_JOBS_ALLOWED)
  .max(1_000_000, OPEN_JOBS_ALLOWED)
  .nullable()
  .describe('Video jobs that may be open at a time; null for no limit.')

const budgetOrNone = budgetField.nullable().describe('Null for no budget.')

/** The body of `POST /admin/v1/tenants`. */
export const createTenantRequest = requestObject({
  name: nameField,
  open_jobs_max: openJobsField.default(OPEN_JOBS_DEFAULT),
  budget: budgetOrNone.default(null),
})

/** The body of `PATCH /admin/v1/tenants/{tenant_id}`. */
export const changeTenantRequest = changeObject({
  name: nameField.optional(),
  open_jobs_max: openJobsField.optional(),
  budget: budgetOrNone.optional(),
})

/** The body of `POST .../grants`. */
export const grantRequest = requestObject({
  credits: positiveCreditsField,
  id: rowIdField,
  note: reasonField.optional(),
})

/** The body of `POST .../adjustments`. */
export const adjustmentRequest = requestObject({
  amount: signedCreditsField,
  reason: reasonField,
  id: rowIdField,
  allow_debt: z
    .boolean('use true or false')
    .default(false)
    .describe('Whether the available balance may fall below zero; otherwise that is a 409.'),
})

/** The body of `POST .../suspension`. */
export const suspensionRequest = requestObject({ reason: reasonField.optional() })

/** The body of `POST .../callback-secret`. */
export const callbackSecretRequest = requestObject({
  rotate: z
    .boolean('use true or false')
    .default(false)
    .describe('Makes a new secret; otherwise the current one is shown.'),
  overlap_seconds: overlapField.optional(),
  again: againField.default(false),
}).refine(({ rotate, overlap_seconds, again }) => rotate || (overlap_seconds === undefined && !again), {
  path: ['rotate'],
  error: 'overlap_seconds and again belong to a rotation: send rotate with true',
})
