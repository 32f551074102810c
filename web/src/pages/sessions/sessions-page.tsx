import { useState } from 'preact/hooks'
import { useAdminList } from '../../api/admin-query.ts'
import type { SessionRow } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { signOut, useMay } from '../../api/session.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { Button } from '../../components/button.tsx'
import { timeColumn } from '../../components/columns.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { notify } from '../../state/notices.ts'

const KINDS: Readonly<Record<SessionRow['kind'], string>> = {
  admin_key: 'admin key',
  api_key: 'API key',
  oidc: 'single sign-on',
  local: 'sign-in link',
}

/** Who is signed in, and how to end a session. */
export default function SessionsPage() {
  const [ending, setEnding] = useState<SessionRow | 'all' | null>(null)
  const seesAll = useMay('owner')
  const list = useAdminList('/sessions')
  const confirm = async () => {
    if (ending === 'all') {
      await signOut({ isEverywhere: true })
    } else if (ending !== null) {
      await adminWrite('DELETE', '/sessions/{session_id}', { path: { session_id: ending.id } })
      notify('The session has ended')
      setEnding(null)
    }
  }
  return (
    <Page
      title="Sessions"
      lead={seesAll ? 'Everyone who is signed in to this console.' : 'Where you are signed in.'}
      actions={
        <Button kind="danger" onClick={() => setEnding('all')}>
          Sign out everywhere
        </Button>
      }
    >
      <DataTable
        caption="Sessions"
        columns={sessionColumns(setEnding)}
        list={list}
        rowKey={({ id }) => id}
        empty={<p>No session.</p>}
        exportName={['sessions']}
      />
      {ending === null ? null : (
        <ActionDialog
          title={ending === 'all' ? 'Sign out everywhere' : 'End a session'}
          verb={ending === 'all' ? 'Sign out everywhere' : 'End the session'}
          isDangerous
          consequence={
            ending === 'all'
              ? 'Every session of yours ends, this one too.'
              : `The session of ${ending.actor} ends at its next request.`
          }
          onClose={() => setEnding(null)}
          onConfirm={confirm}
        />
      )}
    </Page>
  )
}

function sessionColumns(onEnd: (row: SessionRow) => void): readonly TableColumn<SessionRow>[] {
  return [
    { id: 'actor', title: 'Who', value: ({ actor }) => actor },
    { id: 'kind', title: 'Signed in by', value: ({ kind }) => KINDS[kind] },
    { id: 'role', title: 'Role', value: ({ role, tenant }) => (tenant === null ? role : `${role} ${tenant.name}`) },
    timeColumn({ id: 'created', title: 'Since' }, ({ created_at }) => created_at),
    timeColumn({ id: 'seen', title: 'Last seen' }, ({ seen_at }) => seen_at),
    timeColumn({ id: 'expires', title: 'Ends' }, ({ expires_at }) => expires_at),
    {
      id: 'current',
      title: 'Session',
      value: ({ current }) => (current ? 'this one' : ''),
      cell: (row) =>
        row.current ? <Status state="this one" tone="good" /> : <Button onClick={() => onEnd(row)}>End</Button>,
    },
  ]
}
