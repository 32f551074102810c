import { changeChannelRequest, parseRequest } from '#core/admin/requests.ts'
import type { ChannelChange } from '#core/catalogue/switches.ts'
import { pathId } from './named-target.ts'
import { channelBody, requireConfigured, switchTogether } from './switched-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `PATCH /admin/v1/channels/{channel_id}`: all of the changes or none; every instance sees them within 15 seconds. */
export const changeChannel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'channel_id', 'channel')
  const { disabled, weight, priority } = parseRequest(changeChannelRequest, event.json)
  const config = requireConfigured(context, { kind: 'channel', id })
  const target = { kind: 'channel', id } as const
  const changes: ChannelChange[] = [
    ...(disabled === undefined ? [] : [{ ...target, action: disabled ? ('disable' as const) : ('enable' as const) }]),
    ...(weight === undefined ? [] : [{ ...target, action: 'weight' as const, value: weight }]),
    ...(priority === undefined ? [] : [{ ...target, action: 'priority' as const, value: priority }]),
  ]
  return { body: channelBody(id, await switchTogether(event, context, changes), config) }
}
