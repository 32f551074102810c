import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { VideoDetail } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { Button } from '../../components/button.tsx'
import { creditWords } from '../../core/amount.ts'
import { urlWithFilters } from '../../core/filters.ts'
import { notify } from '../../state/notices.ts'

type Action = keyof VideoDetail['may']

type Words = { readonly verb: string; readonly consequence: string; readonly done: string }

const ACTIONS: readonly Action[] = ['resend', 'redrive', 'cancel', 'delete']

/** What this session may do with a job now, as the gateway says. */
export function VideoActions({ job }: { readonly job: VideoDetail }) {
  const [action, setAction] = useState<Action | null>(null)
  const { route } = useLocation()
  const words = wordsOf(job)
  const confirm = async (chosen: Action) => {
    await send(chosen, job)
    notify(words[chosen].done)
    setAction(null)
    if (chosen === 'delete') {
      route(urlWithFilters('/console/videos', { tenant: job.tenant.id }))
    }
  }
  return (
    <>
      {ACTIONS.filter((each) => job.may[each]).map((each) => (
        <Button key={each} onClick={() => setAction(each)}>
          {words[each].verb}
        </Button>
      ))}
      {action === null ? null : (
        <ActionDialog
          title={`${words[action].verb}: video of ${job.model}`}
          verb={words[action].verb}
          dismissal={action === 'cancel' ? 'Keep the job' : 'Cancel'}
          isDangerous={action === 'cancel' || action === 'delete'}
          consequence={words[action].consequence}
          onClose={() => setAction(null)}
          onConfirm={() => confirm(action)}
        />
      )}
    </>
  )
}

function send(action: Action, job: VideoDetail): Promise<unknown> {
  const input = { path: { job_id: job.id }, query: { tenant: job.tenant.id } }
  switch (action) {
    case 'resend':
      return adminWrite('POST', '/videos/{job_id}/callback', input)
    case 'redrive':
      return adminWrite('POST', '/videos/{job_id}/redrive', input)
    case 'cancel':
      return adminWrite('POST', '/videos/{job_id}/cancellation', input)
    case 'delete':
      return adminWrite('DELETE', '/videos/{job_id}', input)
  }
}

function wordsOf({ estimate, callback }: VideoDetail): Readonly<Record<Action, Words>> {
  return {
    resend: {
      verb: 'Send the callback again',
      consequence: `${callback?.url_host ?? 'The client'} gets the same callback, with the same webhook id, as a new attempt.`,
      done: 'The callback was sent again',
    },
    redrive: {
      verb: 'Redrive',
      consequence: 'A new execution continues the job where it stopped. Nothing is submitted twice.',
      done: 'The job is being continued',
    },
    cancel: {
      verb: 'Cancel the job',
      consequence: `The job ends as cancelled, and its reservation of ${creditWords(estimate)} is released. The upstream is asked to stop; what it charges nevertheless is not billed to the tenant.`,
      done: 'The job is being cancelled',
    },
    delete: {
      verb: 'Delete',
      consequence:
        'The job and its video disappear for good. What the upstream has begun is billed; rows of the ledger stay.',
      done: 'The video was deleted',
    },
  }
}
