import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { VideoDetail } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { Button } from '../../components/button.tsx'
import { creditWords } from '../../core/amount.ts'
import { notify } from '../../state/notices.ts'

type Action = keyof VideoDetail['may']

type Words = { readonly verb: string; readonly consequence: string; readonly done: string; readonly path: string }

const ACTIONS: readonly Action[] = ['resend', 'redrive', 'cancel', 'delete']

/** What this session may do with a job now, as the gateway says. */
export function VideoActions({ job }: { readonly job: VideoDetail }) {
  const [action, setAction] = useState<Action | null>(null)
  const { route } = useLocation()
  const words = wordsOf(job)
  const confirm = async (chosen: Action) => {
    const tenant = encodeURIComponent(job.tenant.id)
    const path = `/videos/${encodeURIComponent(job.id)}${words[chosen].path}?tenant=${tenant}`
    await (chosen === 'delete'
      ? adminWrite('DELETE', path, undefined, { deletes: '/videos/{job_id}' })
      : adminWrite('POST', path, {}))
    notify(words[chosen].done)
    setAction(null)
    if (chosen === 'delete') {
      route(`/console/videos?tenant=${tenant}`)
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

function wordsOf({ estimate, callback }: VideoDetail): Readonly<Record<Action, Words>> {
  return {
    resend: {
      verb: 'Send the callback again',
      consequence: `${callback?.url_host ?? 'The client'} gets the same callback, with the same webhook id, as a new attempt.`,
      done: 'The callback was sent again',
      path: '/callback',
    },
    redrive: {
      verb: 'Redrive',
      consequence: 'A new execution continues the job where it stopped. Nothing is submitted twice.',
      done: 'The job is being continued',
      path: '/redrive',
    },
    cancel: {
      verb: 'Cancel the job',
      consequence: `The job ends as failed, and its reservation of ${creditWords(estimate)} is released. The upstream is asked to stop; what it charges nevertheless is not billed to the tenant.`,
      done: 'The job is being cancelled',
      path: '/cancellation',
    },
    delete: {
      verb: 'Delete',
      consequence:
        'The job and its video disappear for good. What the upstream has begun is billed; rows of the ledger stay.',
      done: 'The video was deleted',
      path: '',
    },
  }
}
