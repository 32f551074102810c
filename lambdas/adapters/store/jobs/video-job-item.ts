import * as z from 'zod/mini'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { inOrder, type StoredText, type VideoJob } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'

/** Every provider of video channels; a missing one does not compile, because its jobs could not be read. */
const PROVIDERS: { readonly [Name in VideoChannel['provider']]: Name } = { p1: 'p1', p2: 'p2' }

const SK_PREFIX = 'JOB#'
const PK_PREFIX = 'T#'

/** The item of a job. Its types are checked here and nowhere else. */
const videoJobItem = z.object({
  PK: z.string().check(z.startsWith(PK_PREFIX)),
  SK: z.string().check(z.startsWith(SK_PREFIX)),
  status: z.enum(['queued', 'processing', 'succeeded', 'failed']),
  model: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
  videoKey: z.string(),
  estimate: z.union([z.number(), z.bigint()]),
  callbackUrl: z.optional(z.string()),
  requestId: z.optional(z.string()),
  deleted: z.optional(z.boolean()),
  cancelledAt: z.optional(z.number()),
  cancellation: z.optional(z.string()),
  isWaitingForChannel: z.optional(z.boolean()),
  referenceCheck: z.optional(z.enum(['asked', 'refused'])),
  submitState: z.optional(z.enum(['sending', 'accepted'])),
  channelId: z.optional(z.string()),
  provider: z.optional(z.enum(PROVIDERS)),
  submittedAt: z.optional(z.number()),
  taskId: z.optional(z.string()),
  acceptedAt: z.optional(z.number()),
  upstreamPercent: z.optional(z.object({ percent: z.number(), since: z.optional(z.number()) })),
  timing: z.optional(
    z.object({ className: z.string(), usual: z.optional(z.object({ early: z.number(), median: z.number() })) }),
  ),
  submitText: z.optional(z.string()),
  submitTextKey: z.optional(z.string()),
  pollText: z.optional(z.string()),
  pollTextKey: z.optional(z.string()),
  goneCount: z.optional(z.number()),
  isCancelRefused: z.optional(z.boolean()),
  finishedAt: z.optional(z.number()),
  storedDurationSeconds: z.optional(z.string()),
  storedAt: z.optional(z.number()),
  failure: z.optional(z.string()),
  failureCause: z.optional(z.string()),
  error: z.optional(z.string()),
  durationSeconds: z.nullish(z.string()),
  billed: z.optional(z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))),
  endedAt: z.optional(z.number()),
  callbackState: z.optional(z.literal('sent')),
  callbackResends: z.optional(z.number()),
  callbackAttempts: z.optional(
    z.array(
      z.object({
        at: z.number(),
        attempt: z.number(),
        status: z.optional(z.number()),
        milliseconds: z.number(),
        error: z.optional(z.string()),
        delivered: z.boolean(),
      }),
    ),
  ),
})

const placeItem = z.pick(videoJobItem, { status: true, channelId: true })

/** Reads the part of a job's item that says whether it occupies its channel. @throws as {@link readVideoJobItem}. */
export function readJobPlace(item: unknown): Pick<VideoJob, 'status' | 'channelId'> {
  const { status, channelId } = placeItem.parse(item)
  return { status, channelId }
}

/** Reads a job's item. @throws ZodError for an item that is not a job, which only a fault of this service could write. */
export function readVideoJobItem(item: unknown): VideoJob {
  const { PK, SK, deleted, estimate, submitText, submitTextKey, pollText, pollTextKey, ...rest } =
    videoJobItem.parse(item)
  return {
    ...optionalFields(rest),
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

function optionalFields(item: Rest) {
  return {
    ...item,
    isWaitingForChannel: item.isWaitingForChannel ?? false,
    callbackUrl: item.callbackUrl,
    submitState: item.submitState,
    channelId: item.channelId,
    provider: item.provider,
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
    callbackAttempts: item.callbackAttempts && inOrder(item.callbackAttempts),
  }
}

function storedText(inline: string | undefined, bucketKey: string | undefined): StoredText | undefined {
  if (bucketKey !== undefined) {
    return { bucketKey }
  }
  return inline === undefined ? undefined : { inline }
}

/** Attributes of a stored string, for an update expression: one of its two attributes is set, the other removed. */
export function storedTextAttributes(
  name: 'submitText' | 'pollText',
  text: StoredText,
): { set: string; remove: string; value: string } {
  return 'inline' in text
    ? { set: name, remove: `${name}Key`, value: text.inline }
    : { set: `${name}Key`, remove: name, value: text.bucketKey }
}
