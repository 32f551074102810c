import * as z from 'zod/mini'
import { CHANNEL_PRIORITY_MAX, CHANNEL_WEIGHT_MAX } from '../catalogue/channel-share.ts'
import { changeObject, requestObject } from './parse-request.ts'

const WEIGHT_ALLOWED = `use a number above 0, at most ${CHANNEL_WEIGHT_MAX}`
const PRIORITY_ALLOWED = `use a whole number from 0 to ${CHANNEL_PRIORITY_MAX}`

const disabledField = z.boolean('use true or false')

/** The body of `PATCH /admin/v1/channels/{channel_id}`. */
export const changeChannelRequest = changeObject({
  disabled: z.optional(disabledField).check(z.describe('A disabled channel gets no new work; its open jobs go on.')),
  weight: z
    .optional(z.number(WEIGHT_ALLOWED).check(z.positive(WEIGHT_ALLOWED), z.maximum(CHANNEL_WEIGHT_MAX, WEIGHT_ALLOWED)))
    .check(z.describe('Share among channels of equal priority: above 0, at most 1000.')),
  priority: z
    .optional(
      z.int(PRIORITY_ALLOWED).check(z.minimum(0, PRIORITY_ALLOWED), z.maximum(CHANNEL_PRIORITY_MAX, PRIORITY_ALLOWED)),
    )
    .check(z.describe('The lowest number is tried first, from 0 to 1000.')),
})

/** The body of `PATCH /admin/v1/models/{model}`. */
export const changeModelRequest = requestObject({
  disabled: disabledField.check(z.describe('A disabled model is unknown to clients.')),
})

/** The body of a request that has nothing to say. */
export const emptyRequest = requestObject({})
