import { withoutFileName } from '#core/catalogue/references.ts'
import { jobIdMilliseconds } from '#core/ids.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import type { LedgerEntry } from '#core/pricing/usage.ts'
import type { TimelineEntry } from './timeline-entry.ts'

/** The events that the table has of a job. Steps without a time in the record come from the execution. */
export function recordTimeline(job: VideoJob, ledger: readonly LedgerEntry[]): TimelineEntry[] {
  const createdAt = jobIdMilliseconds(job.jobId)
  // Times are truncated to seconds: an event in the second of the creation still came after it.
  const atSecond = (seconds: number) => Math.max(createdAt, seconds * 1000)
  const entries: TimelineEntry[] = [{ at: createdAt, event: 'created' }]
  for (const { kind, amount, actual, at } of ledger) {
    const event = {
      reserve: `reserved ${amount}`,
      settle: `settled at ${actual}`,
      release: `released: ${withoutUrls(job.error ?? 'failed')}`,
      // A job has none of these.
      grant: 'granted',
      adjust: 'adjusted',
    }[kind]
    entries.push({ at: Date.parse(at), event })
  }
  if (job.submittedAt !== undefined) {
    entries.push({ at: atSecond(job.submittedAt), event: `claimed for channel ${job.channelId}`, doneBy: 'Submit' })
  }
  if (job.finishedAt !== undefined) {
    entries.push({ at: atSecond(job.finishedAt), event: 'a poll found it finished upstream', doneBy: 'Poll' })
  }
  return entries
}

/** An upstream's error may name a file of the client, and so does the error about a refused reference. */
export function withoutUrls(text: string): string {
  return withoutFileName(text).replaceAll(/\b(https?:\/\/|data:)\S+/gi, '<url>')
}
