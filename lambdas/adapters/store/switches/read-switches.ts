import * as z from 'zod/mini'
import { NO_SWITCHES, type Switches } from '#core/catalogue/switches.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** The switches as they are stored. `version` grows with every change; 0 before the first. */
export type StoredSwitches = { readonly switches: Switches; readonly version: number }

function setting<Value extends z.ZodMiniType>(value: Value) {
  return z.optional(z.object({ value, by: z.string(), at: z.number() }))
}

const switchesItem = z.object({
  version: z.number(),
  channels: z.record(
    z.string(),
    z.object({ enabled: setting(z.literal(false)), weight: setting(z.number()), priority: setting(z.number()) }),
  ),
  models: z.record(z.string(), z.object({ enabled: setting(z.boolean()) })),
})

/**
 * Reads every switch: one strongly consistent read of one item, because a read that lags could show a switch later than promised.
 * @throws ServiceUnavailableError when the table stays out of reach; ZodError for an item that this service did not write.
 */
export async function readSwitches(table: Pick<Table, 'readItem'>): Promise<StoredSwitches> {
  const item = await table.readItem(tableKeys.switches())
  if (item === undefined) {
    return { switches: NO_SWITCHES, version: 0 }
  }
  const { version, channels, models } = switchesItem.parse(item)
  return { switches: { channels, models }, version }
}
