import { useState } from 'preact/hooks'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { TextField } from '../../components/text-field.tsx'
import { counted } from '../../core/plural.ts'
import { notify } from '../../state/notices.ts'
import type { SwitchAction } from './switch-action.ts'

type DialogProps<Kind extends SwitchAction['kind']> = {
  readonly action: Extract<SwitchAction, { kind: Kind }>
  readonly onClose: () => void
}

/** The dialog of one switch. */
export function ChannelDialog({ action, onClose }: { readonly action: SwitchAction; readonly onClose: () => void }) {
  switch (action.kind) {
    case 'channel-share':
      return <ChangeShare action={action} onClose={onClose} />
    case 'channel-state':
    case 'model-state':
      return <ChangeState action={action} onClose={onClose} />
    case 'channel-clear':
    case 'model-clear':
      return <ClearSwitches action={action} onClose={onClose} />
    default:
      return action satisfies never
  }
}

function ChangeState({ action, onClose }: DialogProps<'channel-state' | 'model-state'>) {
  const { id, isDisabled, kind } = action
  const verb = isDisabled ? 'Enable' : 'Disable'
  const confirm = async () => {
    const body = { disabled: !isDisabled }
    await (kind === 'channel-state'
      ? adminWrite('PATCH', '/channels/{channel_id}', { path: { channel_id: id }, body })
      : adminWrite('PATCH', '/models/{model}', { path: { model: id }, body }))
    notify(`${verb}d ${id}`)
    onClose()
  }
  return (
    <ActionDialog
      title={`${verb} ${id}`}
      verb={verb}
      isDangerous={!isDisabled}
      consequence={consequenceOf(action)}
      onClose={onClose}
      onConfirm={confirm}
    />
  )
}

function consequenceOf(action: DialogProps<'channel-state' | 'model-state'>['action']): string {
  if (action.isDisabled) {
    return action.kind === 'model-state' ? 'Clients see the model again.' : 'The channel gets new work again.'
  }
  return action.kind === 'model-state'
    ? 'The model is unknown to clients within 15 seconds; open jobs finish.'
    : `The channel gets no new work within 15 seconds; ${counted(action.openJobs ?? 0, 'open job finishes', 'open jobs finish')}. Models that no other channel offers are refused.`
}

function ChangeShare({ action, onClose }: DialogProps<'channel-share'>) {
  const { row } = action
  const [weight, setWeight] = useState(String(row.weight ?? ''))
  const [priority, setPriority] = useState(String(row.priority ?? ''))
  const body = {
    ...(Number(weight) === row.weight ? {} : { weight: Number(weight) }),
    ...(Number(priority) === row.priority ? {} : { priority: Number(priority) }),
  }
  const isReadable = /^\d+(\.\d+)?$/.test(weight) && Number(weight) > 0 && /^\d+$/.test(priority)
  const confirm = async () => {
    await adminWrite('PATCH', '/channels/{channel_id}', { path: { channel_id: row.id }, body })
    notify(`Changed ${row.id}`)
    onClose()
  }
  const unchanged = Object.keys(body).length === 0 ? 'Nothing has changed' : undefined
  return (
    <ActionDialog
      title={`Weight and priority of ${row.id}`}
      verb="Save"
      consequence={
        row.configured_weight === null
          ? undefined
          : `The configuration says weight ${row.configured_weight} and priority ${row.configured_priority}.`
      }
      blockedBecause={isReadable ? unchanged : 'Use a weight above 0 and a whole number as priority'}
      onClose={onClose}
      onConfirm={confirm}
    >
      <TextField
        label="Weight"
        hint="Share of the work among channels of equal priority."
        isNumeric
        value={weight}
        onChange={setWeight}
      />
      <TextField
        label="Priority"
        hint="The lowest number is tried first."
        isNumeric
        value={priority}
        onChange={setPriority}
      />
    </ActionDialog>
  )
}

function ClearSwitches({ action: { id, kind }, onClose }: DialogProps<'channel-clear' | 'model-clear'>) {
  const isChannel = kind === 'channel-clear'
  const confirm = async () => {
    await (isChannel
      ? adminWrite('DELETE', '/channels/{channel_id}/switches', { path: { channel_id: id } })
      : adminWrite('DELETE', '/models/{model}/switches', { path: { model: id } }))
    notify(`${id} follows its configuration again`)
    onClose()
  }
  return (
    <ActionDialog
      title={`Clear the switches of ${id}`}
      verb="Clear"
      consequence={
        isChannel
          ? 'The channel is enabled, with the weight and the priority of the configuration.'
          : 'The model is enabled, as the configuration says.'
      }
      onClose={onClose}
      onConfirm={confirm}
    />
  )
}
