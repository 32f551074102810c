import type { NextStep, StepInput, VideoJob, VideoResult } from '#core/jobs/video-job.ts'
import { type Settlement, settleVideoCost } from '#core/pricing/video-settlement.ts'
import { logWord } from '#core/redaction.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { loadText } from '#store/bucket/bucket.ts'
import type { Reservation } from '#store/job-ledger/reservation.ts'
import type { Resolution } from '#store/job-ledger/resolve-reservation.ts'
import { resolveVideoJob } from './resolve-video-job.ts'
import type { StepContext } from './step-context.ts'

/** Bills a finished job and ends it, in one transaction. */
export async function settleVideoJob({ tenantId, jobId }: StepInput, context: StepContext): Promise<NextStep> {
  await resolveVideoJob({ tenantId, jobId }, context, (job, reservation) => settlementOf(job, reservation, context))
  return { step: 'done' }
}

/** What a finished job costs, by the prices frozen on its reservation and the usage that the upstream reports. */
export async function settlementOf(job: VideoJob, reservation: Reservation, context: StepContext): Promise<Resolution> {
  const text = await loadText(context.openBucket, job.pollText)
  const result = text === undefined || job.provider === undefined ? undefined : context.readResult(job.provider, text)
  const durationSeconds = result?.outputSeconds ?? (job.storedDurationSeconds || undefined)
  const settlement = settleVideoCost({
    estimate: reservation.amount,
    snapshot: reservation.snapshot,
    requested: reservation.tier,
    result: result ?? NOTHING_REPORTED,
    durationSeconds,
  })
  reportSettlement(settlement, job, result ?? NOTHING_REPORTED)
  const isBelieved = !(settlement.usageRefused || settlement.usageAboveBound)
  if (isBelieved && result?.completionTokens !== undefined) {
    const about = { model: job.model, channel: job.channelId ?? 'none' }
    measure({ output_tokens: Number(result.completionTokens) }, about)
  }
  return {
    kind: 'settle',
    actual: settlement.amount,
    durationSeconds,
    usage: settlement.usage,
    line: settlement.line,
    estimated: settlement.billedAtEstimate,
  }
}

const NOTHING_REPORTED = {
  videoUrl: undefined,
  completionTokens: undefined,
  billableSeconds: undefined,
  outputSeconds: undefined,
  resolution: undefined,
  audio: undefined,
}

function reportSettlement(settlement: Settlement, job: VideoJob, reported: VideoResult): void {
  const about = { model: job.model }
  if (settlement.billedAtEstimate) {
    count('billed_at_estimate', about)
  }
  if (settlement.usageRefused) {
    logger.error('the upstream reported a usage that cannot be and was not billed by it', {
      ...jobFacts(job),
      ...usageFacts(reported),
    })
    count('usage_refused', about)
  }
  if (settlement.usageAboveBound) {
    logger.error('the upstream reported a usage above the bound of its model', {
      ...jobFacts(job),
      model: job.model,
      ...usageFacts(reported),
    })
    count('usage_above_bound', { channel: job.channelId ?? 'none' })
  }
  if (settlement.overdraft > 0n) {
    logger.error('the job cost more than its reservation', {
      ...jobFacts(job),
      overdraft: settlement.overdraft.toString(),
    })
    count('overdraft', about)
  }
}

/** The reported numbers that can decide a bill: an operator needs them to judge a usage that was refused. */
function usageFacts({ completionTokens, billableSeconds, outputSeconds }: VideoResult) {
  const reported = Object.entries({ completionTokens, billableSeconds, outputSeconds })
  return Object.fromEntries(reported.flatMap(([name, text]) => (text === undefined ? [] : [[name, logWord(text)]])))
}
