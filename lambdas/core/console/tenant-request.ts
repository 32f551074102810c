import * as z from 'zod/mini'
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
  .nullable(z.int(OPEN_JOBS_ALLOWED).check(z.minimum(0, OPEN_JOBS_ALLOWED), z.maximum(1_000_000, OPEN_JOBS_ALLOWED)))
  .check(z.describe('Video jobs that may be open at a time; null for no limit.'))

const budgetOrNone = z.nullable(budgetField).check(z.describe('Null for no budget.'))

/** The body of `POST /admin/v1/tenants`. */
export const createTenantRequest = requestObject({
  name: nameField,
  open_jobs_max: z._default(openJobsField, OPEN_JOBS_DEFAULT),
  budget: z._default(budgetOrNone, null),
})

/** The body of `PATCH /admin/v1/tenants/{tenant_id}`. */
export const changeTenantRequest = changeObject({
  name: z.optional(nameField),
  open_jobs_max: z.optional(openJobsField),
  budget: z.optional(budgetOrNone),
})

/** The body of `POST .../grants`. */
export const grantRequest = requestObject({
  credits: positiveCreditsField,
  id: rowIdField,
  note: z.optional(reasonField),
})

/** The body of `POST .../adjustments`. */
export const adjustmentRequest = requestObject({
  amount: signedCreditsField,
  reason: reasonField,
  id: rowIdField,
  allow_debt: z
    ._default(z.boolean('use true or false'), false)
    .check(z.describe('Whether the available balance may fall below zero; otherwise that is a 409.')),
})

/** The body of `POST .../suspension`. */
export const suspensionRequest = requestObject({ reason: z.optional(reasonField) })

/** The body of `POST .../callback-secret`. */
export const callbackSecretRequest = requestObject({
  rotate: z
    ._default(z.boolean('use true or false'), false)
    .check(z.describe('Makes a new secret; otherwise the current one is shown.')),
  overlap_seconds: z.optional(overlapField),
  again: z._default(againField, false),
}).check(
  z.refine(({ rotate, overlap_seconds, again }) => rotate || (overlap_seconds === undefined && !again), {
    path: ['rotate'],
    error: 'overlap_seconds and again belong to a rotation: send rotate with true',
  }),
)
