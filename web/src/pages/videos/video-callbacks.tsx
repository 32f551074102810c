import type { VideoDetail } from '../../api/admin-types.ts'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'

/** How the result of a job was told to its client. */
export function VideoCallbacks({ callback }: { readonly callback: VideoDetail['callback'] }) {
  if (callback === null) {
    return null
  }
  return (
    <section class="card" aria-label="Callbacks">
      <div class="card-head">
        <h2>Callbacks to {callback.url_host}</h2>
      </div>
      {callback.attempts.length === 0 ? <p class="hint">None has been sent yet.</p> : null}
      <ol class="timeline">
        {callback.attempts.map((attempt) => (
          <li key={attempt.attempt}>
            <span class="timeline-what">
              <Status state={attempt.delivered ? 'delivered' : 'failed'} />
              <span class="hint">
                {' '}
                {attempt.status === null ? attempt.error : `status ${attempt.status}`}, {attempt.milliseconds} ms
              </span>
            </span>
            <span class="hint">
              attempt {attempt.attempt} · <Time at={attempt.at} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
