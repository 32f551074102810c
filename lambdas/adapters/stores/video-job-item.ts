import * as z from 'zod'
import type { StoredText, VideoJob } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/quota/money.ts'

const SK_PREFIX = 'JOB#'
const PK_PREFIX = 'T#'

/** The job record as it lies in the table. Reading it is the one place where its types are checked. */
const videoJobItem = z.object({
  PK: z.string().startsWith(PK_PREFIX),
  SK: z.string().startsWith(SK_PREFIX),
  status: z.enum(['queued', 'processing', 'succeeded', 'failed']),
  model: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
  videoKey: z.string(),
  estimate: z.union([z.number(), z.bigint()]),
  callbackUrl: z.string().optional(),
  deleted: z.boolean().optional(),
  isWaitingForChannel: z.boolean().optional(),
  submitState: z.enum(['sending', 'accepted']).optional(),
  channelId: z.string().optional(),
  submittedAt: z.number().optional(),
  taskId: z.string().optional(),
  submitText: z.string().optional(),
  submitTextKey: z.string().optional(),
  pollText: z.string().optional(),
  pollTextKey: z.string().optional(),
  goneCount: z.number().optional(),
  isCancelRefused: z.boolean().optional(),
  finishedAt: z.number().optional(),
  storedDurationSeconds: z.string().optional(),
  failure: z.string().optional(),
  error: z.string().optional(),
  durationSeconds: z.string().nullish(),
  callbackState: z.literal('sent').optional(),
})

/** Reads a job record. @throws ZodError for an item that is no job record, which only a fault of ours could write. */
export function readVideoJobItem(item: unknown): VideoJob {
  const { PK, SK, deleted, estimate, submitText, submitTextKey, pollText, pollTextKey, ...rest } =
    videoJobItem.parse(item)
  return {
    ...optionalMembers(rest),
    tenantId: PK.slice(PK_PREFIX.length),
    jobId: SK.slice(SK_PREFIX.length),
    isDeleted: deleted ?? false,
    estimate: microcredits(estimate),
    submitText: storedText(submitText, submitTextKey),
    pollText: storedText(pollText, pollTextKey),
  }
}

type Rest = Omit<
  z.infer<typeof videoJobItem>,
  'PK' | 'SK' | 'deleted' | 'estimate' | `${'submit' | 'poll'}Text${'' | 'Key'}`
>

function optionalMembers(item: Rest) {
  return {
    ...item,
    isWaitingForChannel: item.isWaitingForChannel ?? false,
    callbackUrl: item.callbackUrl,
    submitState: item.submitState,
    channelId: item.channelId,
    submittedAt: item.submittedAt,
    taskId: item.taskId,
    goneCount: item.goneCount ?? 0,
    isCancelRefused: item.isCancelRefused ?? false,
    finishedAt: item.finishedAt,
    storedDurationSeconds: item.storedDurationSeconds,
    failure: item.failure,
    error: item.error,
    durationSeconds: item.durationSeconds ?? undefined,
    callbackState: item.callbackState,
  }
}

function storedText(inline: string | undefined, bucketKey: string | undefined): StoredText | undefined {
  if (bucketKey !== undefined) {
    return { bucketKey }
  }
  return inline === undefined ? undefined : { inline }
}

/** Attribute names and values of a stored text, for an update expression: one of the two is set, the other removed. */
export function storedTextAttributes(
  name: 'submitText' | 'pollText',
  text: StoredText,
): { set: string; remove: string; value: string } {
  return 'inline' in text
    ? { set: name, remove: `${name}Key`, value: text.inline }
    : { set: `${name}Key`, remove: name, value: text.bucketKey }
}
