import * as z from 'zod'
import { channelPriority, channelWeight } from '../catalogue/channel.ts'
import { changeObject, requestObject } from './parse-request.ts'

const WEIGHT_ALLOWED = 'use a number above 0, at most 1000'
const PRIORITY_ALLOWED = 'use a whole number from 0 to 1000'

const disabledField = z.boolean('use true or false')

/** The body of `PATCH /admin/v1/channels/{channel_id}`. */
export const changeChannelRequest = changeObject({
  disabled: disabledField.optional().describe('A disabled channel gets no new work; its open jobs go on.'),
  weight: z
    .number(WEIGHT_ALLOWED)
    .refine((weight) => channelWeight.safeParse(weight).success, WEIGHT_ALLOWED)
    .optional()
    .describe('Share among channels of equal priority: above 0, at most 1000.'),
  priority: z
    .number(PRIORITY_ALLOWED)
    .refine((priority) => channelPriority.safeParse(priority).success, PRIORITY_ALLOWED)
    .optional()
    .describe('The lowest number is tried first, from 0 to 1000.'),
})

/** The body of `PATCH /admin/v1/models/{model}`. */
export const changeModelRequest = requestObject({
  disabled: disabledField.describe('A disabled model is unknown to clients.'),
})

/** The body of a request that has nothing to say. */
export const emptyRequest = requestObject({})
