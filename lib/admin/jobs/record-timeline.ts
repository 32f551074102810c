import type { VideoJob } from '#core/jobs/video-job.ts'
import { withoutFileName } from '#core/media/reference-name.ts'
import { jobIdMilliseconds } from '#core/parameters/job-id.ts'
import type { LedgerEntry } from '#core/quota/ledger-entry.ts'
import type { TimelineEntry } from './timeline-entry.ts'

/** What the table keeps of a job's course. Steps without a time of their own in the record are for the execution to tell. */
export function recordTimeline(job: VideoJob, ledger: readonly LedgerEntry[]): TimelineEntry[] {
  const createdAt = jobIdMilliseconds(job.jobId)
  // Whole seconds are cut: what happened in the second of the creation came after it all the same.
  const atSecond = (seconds: number) => Math.max(createdAt, seconds * 1000)
  const entries: TimelineEntry[] = [{ at: createdAt, event: 'created' }]
  for (const { kind, amount, actual, at } of ledger) {
    const event = {
      reserve: `reserved ${amount}`,
      settle: `settled at ${actual}`,
      release: `released: ${withoutUrls(job.error ?? 'failed')}`,
      grant: 'granted',
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

/** An upstream's words may name a file of the client, and so do those about a refused reference. */
export function withoutUrls(text: string): string {
  return withoutFileName(text).replaceAll(/\b(https?:\/\/|data:)\S+/gi, '<url>')
}
