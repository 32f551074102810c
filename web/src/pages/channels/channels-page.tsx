import { useState } from 'preact/hooks'
import { useAdmin } from '../../api/admin-query.ts'
import type { ModelRow } from '../../api/admin-types.ts'
import { listOf } from '../../api/list-of.ts'
import { useMay } from '../../api/session.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { FiguresTime } from '../../components/figures-time.tsx'
import { Page } from '../../components/page.tsx'
import { channelColumns } from './channel-columns.tsx'
import { ChannelDialog } from './channel-dialog.tsx'
import { LeftOverModels } from './left-over-models.tsx'
import { modelColumns } from './model-columns.tsx'
import type { SwitchAction } from './switch-action.ts'

const REFRESH_MILLISECONDS = 30_000

/** Upstream accounts and models: how they do, and their switches. */
export default function ChannelsPage() {
  const [action, setAction] = useState<SwitchAction | null>(null)
  const mayWrite = useMay('owner')
  const channels = useAdmin('/channels', { everyMilliseconds: REFRESH_MILLISECONDS })
  const models = useAdmin('/models', { everyMilliseconds: REFRESH_MILLISECONDS })
  const isLeftOver = ({ state }: ModelRow) => state === 'not configured'
  const none = <Empty title="The configuration has none">Add some to the configuration file of the gateway.</Empty>
  return (
    <Page title="Channels and models" lead="A switch holds within 15 seconds, without a deployment.">
      <h2>Channels</h2>
      <DataTable
        caption="Channels"
        columns={channelColumns(mayWrite ? setAction : undefined)}
        list={listOf(channels, channels.data?.channels, channels.data?.as_of)}
        rowKey={({ id }) => id}
        empty={none}
        exportName={['channels']}
      />
      {channels.data === undefined || channels.data.channels.length === 0 ? null : (
        <FiguresTime from={channels.data.minute_from} />
      )}
      <h2>Models</h2>
      <DataTable
        caption="Models"
        columns={modelColumns(mayWrite ? setAction : undefined)}
        list={listOf(
          models,
          models.data?.models.filter((row) => !isLeftOver(row)),
          models.data?.as_of,
        )}
        rowKey={({ id }) => id}
        empty={none}
        exportName={['models']}
      />
      <LeftOverModels
        rows={(models.data?.models ?? []).filter(isLeftOver)}
        onAction={mayWrite ? setAction : undefined}
      />
      {action === null ? null : <ChannelDialog action={action} onClose={() => setAction(null)} />}
    </Page>
  )
}
