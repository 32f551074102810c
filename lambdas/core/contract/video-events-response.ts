import * as z from 'zod'
import { JOB_EVENT_TYPES } from '../jobs/job-events.ts'

/** One event of a video job. */
export const videoEventResponse = z.looseObject({
  id: z
    .string()
    .describe(
      'The same whenever the event is read: its type, or such as `progress:37`, `callback:1`. Also the `id` of its message in a stream.',
    ),
  type: z
    .enum(JOB_EVENT_TYPES)
    .describe('What happened. `succeeded`, `failed` or `cancelled` is the end of a job; only callbacks follow.'),
  at: z.int().describe('Unix seconds.'),
  percent: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe(
      'Of `progress`: what the upstream says, or else an estimate from the times that such jobs took. It never decreases, and is 100 only after success.',
    ),
  eta_seconds: z
    .int()
    .min(0)
    .optional()
    .describe('Of `progress`: seconds until half of such jobs have finished. Absent if that is unknown or over.'),
  cost: z.string().optional().describe('Of `settled`: credits, as a decimal string.'),
  error: z.string().optional().describe('Of `failed` and `cancelled`: why the job has no video.'),
  status: z
    .int()
    .nullable()
    .optional()
    .describe('Of `callback`: the HTTP status of your receiver; null without a response.'),
  attempt: z.int().min(1).optional().describe('Of `callback`: counts the attempts.'),
})

/** The events of a job until now, oldest first. */
export const videoEventListResponse = z.looseObject({
  object: z.literal('list'),
  data: z.array(videoEventResponse).describe('Oldest first. Of `progress`, the list has the current event alone.'),
})
