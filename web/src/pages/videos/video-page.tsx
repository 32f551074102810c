import { useEffect, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { useAdmin } from '../../api/admin-query.ts'
import type { VideoDetail } from '../../api/admin-types.ts'
import { Id } from '../../components/copy.tsx'
import { Failure, Skeleton } from '../../components/feedback.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { Page } from '../../components/page.tsx'
import { VideoPlayer } from '../../components/video-player.tsx'
import { useTenantScope } from '../../shell/tenant-scope.tsx'
import { useUrlFilters } from '../../state/url-filters.ts'
import { VideoActions } from './video-actions.tsx'
import { VideoCallbacks } from './video-callbacks.tsx'
import { isOpen, VideoStatus } from './video-columns.tsx'
import { VideoFacts } from './video-facts.tsx'
import { VideoReceipt } from './video-receipt.tsx'
import { VideoTimeline } from './video-timeline.tsx'

/** While the job is open, and the page is visible. */
const REFRESH_MILLISECONDS = 2_000

/** One video job: the video, what happened, what it cost, and what it said. */
export default function VideoPage() {
  const { params } = useRoute()
  const tenant = useTenantScope(useUrlFilters(['tenant']))
  const [isFollowed, setFollowed] = useState(true)
  const job_id = params.job_id ?? ''
  const job = useAdmin(
    '/videos/{job_id}',
    { query: { tenant }, everyMilliseconds: isFollowed ? REFRESH_MILLISECONDS : undefined },
    { job_id },
  )
  const shouldFollow = job.data === undefined ? !job.isError : isOpen(job.data)
  useEffect(() => setFollowed(shouldFollow), [shouldFollow])
  if (job.data === undefined) {
    return (
      <Page title="Video">
        {job.isError ? <Failure error={job.error} onRetry={() => void job.refetch()} /> : <Skeleton />}
      </Page>
    )
  }
  return <Video job={job.data} renewUrl={async () => (await job.refetch()).data?.video_url} />
}

type VideoProps = { readonly job: VideoDetail; readonly renewUrl: () => Promise<string | null | undefined> }

function Video({ job, renewUrl }: VideoProps) {
  const lead = (
    <span class="summary">
      <VideoStatus row={job} />
      <Id value={job.id} label="job id" />
    </span>
  )
  return (
    <Page title={`Video of ${job.model}`} lead={lead} actions={<VideoActions job={job} />}>
      {job.error === null ? null : (
        <p class={`callout ${job.cancelled ? 'callout-warn' : 'callout-bad'}`}>
          <span>
            {job.error}
            {job.failure_cause === null ? '' : ` (${job.failure_cause})`}
          </span>
        </p>
      )}
      <div class="columns">
        <div class="column">
          {job.video_url === null ? null : (
            <VideoPlayer url={job.video_url} label="The video of this job" renewUrl={renewUrl} />
          )}
          <VideoTimeline job={job} />
          <VideoCallbacks callback={job.callback} />
        </div>
        <div class="column">
          <VideoFacts job={job} />
          <VideoReceipt receipt={job.receipt} jobId={job.id} />
          <Json title="Request" value={job.request} />
          <Json title="Reply to the submit" value={job.submit_reply} />
          <Json title="Last reply to a poll" value={job.poll_reply} />
        </div>
      </div>
    </Page>
  )
}

function Json({ title, value }: { readonly title: string; readonly value: unknown }) {
  return value === null || value === undefined ? null : (
    <details class="card">
      <summary>
        <h2 class="inline">{title}</h2>
      </summary>
      <JsonTree value={value} />
    </details>
  )
}
