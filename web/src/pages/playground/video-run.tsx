import { Amount } from '../../components/amount.tsx'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/copy.tsx'
import { Status } from '../../components/status.tsx'
import { VideoPlayer } from '../../components/video-player.tsx'
import { ledgerUrl, videoUrl } from '../../core/console-url.ts'
import { hasEnded, type RunState } from '../../core/playground/run-state.ts'
import { notify } from '../../state/notices.ts'
import { useVideoRun } from './use-video-run.ts'

type VideoRunProps = Parameters<typeof useVideoRun>[0]

/** One job of the playground: its progress, then its video and what it cost. */
export function VideoRun(props: VideoRunProps) {
  const { state, cancel, isCancelling, renewUrl } = useVideoRun(props)
  const model = String(props.body.model)
  const cancelNow = () => void cancel().catch(() => notify('The job could not be cancelled', 'bad'))
  return (
    <article class="card run">
      <header class="card-head">
        <h3>{model}</h3>
        <span role="status">
          <Status state={state.status} />
        </span>
      </header>
      <p class="run-prompt">{String(props.body.prompt)}</p>
      <RunOutcome state={state} prompt={String(props.body.prompt)} renewUrl={renewUrl} />
      <dl class="run-facts">
        {state.jobId === undefined ? null : (
          <div>
            <dt>Job</dt>
            <dd>
              <a href={videoUrl(state.jobId, props.tenant)}>Details</a> <Id value={state.jobId} label="job id" />
            </dd>
          </div>
        )}
        {state.cost === undefined ? null : (
          <div>
            <dt>Cost</dt>
            <dd>
              <Amount value={state.cost} /> <a href={ledgerUrl(state.jobId ?? '', props.tenant)}>Ledger</a>
            </dd>
          </div>
        )}
      </dl>
      {state.jobId === undefined || hasEnded(state) ? null : (
        <Button kind="quiet" icon="close" isBusy={isCancelling} onClick={cancelNow}>
          Cancel
        </Button>
      )}
    </article>
  )
}

type RunOutcomeProps = {
  readonly state: RunState
  readonly prompt: string
  readonly renewUrl: () => Promise<string | undefined>
}

/** The video, why there is none, or how far it is. */
function RunOutcome({ state, prompt, renewUrl }: RunOutcomeProps) {
  if (state.url !== undefined) {
    return <VideoPlayer url={state.url} label={`Video: ${prompt}`} renewUrl={renewUrl} />
  }
  if (hasEnded(state) && state.status !== 'succeeded') {
    return (
      <p class="callout callout-bad" role="alert">
        {state.error ?? 'The job failed'}
      </p>
    )
  }
  return (
    <div class="player player-waiting">
      <progress aria-label="Progress" max={100} {...(state.percent === undefined ? {} : { value: state.percent })} />
      <p class="hint">
        {state.percent === undefined ? 'In progress' : `${state.percent} %`}
        {state.etaSeconds === undefined ? '' : `, about ${state.etaSeconds} s left`}
      </p>
    </div>
  )
}
