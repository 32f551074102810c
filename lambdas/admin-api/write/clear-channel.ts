import { pathId } from './named-target.ts'
import { channelBody, clearSwitches } from './switched-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `DELETE .../switches` of a channel: the configuration decides again. One that left the configuration can be cleared too. */
export const clearChannel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'channel_id', 'channel')
  const switches = await clearSwitches(event, context, { kind: 'channel', id })
  return { body: channelBody(id, switches, context.openCatalogue().config) }
}
