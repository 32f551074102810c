import type { VideoDetail } from '../../api/admin-types.ts'
import { useMay } from '../../api/session.ts'
import { Amount, Nothing } from '../../components/amount.tsx'
import { Id } from '../../components/copy.tsx'
import { TenantLink } from '../../components/tenant-link.tsx'
import { Time } from '../../components/time.tsx'

/** What is known of a job in single values. */
export function VideoFacts({ job }: { readonly job: VideoDetail }) {
  const seesTenants = useMay('viewer')
  return (
    <section class="card" aria-label="Facts">
      <dl class="facts">
        <dt>Tenant</dt>
        <dd>{seesTenants ? <TenantLink tenant={job.tenant} /> : job.tenant.name}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={job.created_at} />
        </dd>
        <dt>Ended</dt>
        <dd>
          <Time at={job.ended_at} />
        </dd>
        <dt>Length</dt>
        <dd>{job.duration === null ? <Nothing /> : `${job.duration} s`}</dd>
        <dt>Resolution</dt>
        <dd>{job.resolution ?? <Nothing />}</dd>
        <dt>Channel</dt>
        <dd>{job.channel ?? <Nothing />}</dd>
        <dt>Reserved</dt>
        <dd>
          <Amount value={job.estimate} />
        </dd>
        <dt>Billed</dt>
        <dd>
          <Amount value={job.cost} />
        </dd>
        <dt>Upstream task</dt>
        <dd>{job.upstream_task === null ? <Nothing /> : <Id value={job.upstream_task} label="upstream task" />}</dd>
        <dt>Request</dt>
        <dd>{job.request_id === null ? <Nothing /> : <Id value={job.request_id} label="request id" />}</dd>
      </dl>
    </section>
  )
}
