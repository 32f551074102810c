import { changeSwitches, type SwitchChange, type SwitchedBy } from '#core/catalogue/change-switches.ts'
import type { Switches } from '#core/catalogue/switches.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readSwitches } from './read-switches.ts'

/** Each try loses only to another operator's change, and a few operators switch at a time. */
const TRIES_MAX = 10

/** Other changes came first in every try; nothing was changed. */
export class SwitchesContendedError extends Error {
  override readonly name = 'SwitchesContendedError'
}

/** The switches before and after a change; the same object if nothing had to change. */
export type SwitchesChanged = { readonly before: Switches; readonly after: Switches }

/**
 * Changes one switch. The item is replaced only in the version that was read, so that two operators at once lose nothing: the second
 * one reads again. A change that changes nothing writes nothing.
 * @throws SwitchesContendedError; ServiceUnavailableError when the table stays out of reach: the change may then have been made.
 */
export async function changeSwitch(
  table: Pick<Table, 'readItem' | 'transact'>,
  change: SwitchChange,
  by: SwitchedBy,
): Promise<SwitchesChanged> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const { switches: before, version } = await readSwitches(table)
    const after = changeSwitches(before, change, by)
    if (after === before || (await isWritten(table, after, version))) {
      return { before, after }
    }
  }
  throw new SwitchesContendedError('other operators change switches at the same time: try again')
}

async function isWritten(table: Pick<Table, 'transact'>, switches: Switches, version: number): Promise<boolean> {
  const isUnchanged = version === 0 ? 'attribute_not_exists(PK)' : 'version = :version'
  const item = {
    Item: { ...tableKeys.switches(), version: version + 1, ...switches },
    ConditionExpression: isUnchanged,
    ...(version === 0 ? {} : { ExpressionAttributeValues: { ':version': version } }),
  }
  try {
    await table.transact({ switches: { Put: item } })
    return true
  } catch (error) {
    if (error instanceof ConditionsNotMetError && error.failed.has('switches')) {
      return false
    }
    throw error
  }
}
