import type { VideoDetail } from '../../api/admin-types.ts'
import { Time } from '../../components/time.tsx'
import { eventDetail } from '../../core/event-detail.ts'
import { duration } from '../../core/time.ts'
import { isOpen } from './video-columns.tsx'

/** What has happened to a job, in order, and how far it is. */
export function VideoTimeline({ job }: { readonly job: VideoDetail }) {
  return (
    <section class="card" aria-label="Timeline">
      <div class="card-head">
        <h2>Timeline</h2>
        {isOpen(job) && job.eta_seconds !== null ? (
          <span class="hint">about {duration(job.eta_seconds)} to go</span>
        ) : null}
      </div>
      {isOpen(job) ? (
        <progress class="progress" max={100} value={job.percent ?? undefined} aria-label="Progress of the job" />
      ) : null}
      <ol class="timeline">
        {job.events.map((event, index) => (
          <li key={`${event.type} ${event.at} ${index}`}>
            <span class="timeline-what">
              {event.type.replaceAll('_', ' ')}
              <span class="hint"> {eventDetail(event)}</span>
            </span>
            <span class="hint">
              {index === 0 ? '' : `+${duration(Math.max(0, event.at - (job.events[0]?.at ?? event.at)))} · `}
              <Time at={event.at} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
