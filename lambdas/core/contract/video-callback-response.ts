import * as z from 'zod'

/** The outcome of one try to deliver the callback of a job. */
export const videoCallbackAttemptResponse = z.looseObject({
  object: z.literal('video.callback'),
  id: z.uuid().describe('Id of the job.'),
  attempt: z.int().describe('The automatic callback is 1, resends are 2 to 11.'),
  at: z.int().describe('Time of sending, Unix seconds.'),
  status: z.int().nullable().describe('HTTP status of the receiver; null without a response.'),
  milliseconds: z.int().describe('Time until the response, or until the attempt was given up.'),
  error: z.string().nullable().describe('Why the callback was not delivered; null if it was.'),
  delivered: z.boolean().describe('Whether the receiver returned a 2xx.'),
})
