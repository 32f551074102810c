import * as z from 'zod/mini'
import { changeSwitches, NO_SWITCHES, type SwitchChange, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { type Actor, type AuditedFields, auditEntry } from './audit/audit-entry.ts'
import { StoreRefusal } from './store-refusal.ts'
import { allOf, isStill } from './table/expressions.ts'
import { type Table, tryTransact } from './table/table.ts'
import { tableKeys } from './table/table-keys.ts'

/** The switches as they are stored. `version` grows with every change; 0 before the first. */
type StoredSwitches = { readonly switches: Switches; readonly version: number }

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

/** Each try loses only to another operator's change, and a few operators switch at a time. */
const TRIES_MAX = 10

/** Who changes a switch, and when, in Unix milliseconds. */
type Changer = { readonly actor: Actor; readonly at: number }

/** The switches before and after a change; the same object if nothing had to change. */
type SwitchesChanged = { readonly before: Switches; readonly after: Switches }

/**
 * Makes all of these changes or none, each with its entry in the audit log, in one transaction. The item is replaced only in the version that was
 * read, so that two operators at once lose nothing: the second one reads again. A change that changes nothing writes nothing.
 * @throws StoreRefusal `changed_meanwhile`; ServiceUnavailableError when the table stays out of reach: the change may then have been made.
 */
export async function changeSwitchesTogether(
  table: Pick<Table, 'readItem' | 'transact'>,
  changes: readonly SwitchChange[],
  changer: Changer,
): Promise<SwitchesChanged> {
  const by = { by: changer.actor.name, at: Math.trunc(changer.at / 1000) }
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const { switches: before, version } = await readSwitches(table)
    const steps: Step[] = []
    let after = before
    for (const change of changes) {
      const next = changeSwitches(after, change, by)
      if (next !== after) {
        steps.push({ change, before: after, after: next })
      }
      after = next
    }
    if (steps.length === 0 || (await isWritten(table, { after, version, steps }, changer))) {
      return { before, after }
    }
  }
  throw new StoreRefusal('changed_meanwhile', 'other operators change switches at the same time: try again')
}

/** One change that changes something. */
type Step = SwitchesChanged & { readonly change: SwitchChange }

async function isWritten(
  table: Pick<Table, 'transact'>,
  { after, version, steps }: { readonly after: Switches; readonly version: number; readonly steps: readonly Step[] },
  { actor, at }: Changer,
): Promise<boolean> {
  const item = {
    Item: { ...tableKeys.switches(), version: version + 1, ...after },
    ...allOf([isStill('version', version === 0 ? undefined : version)]),
  }
  const entries = steps.map((step, index) => [
    `audit ${index}`,
    auditEntry({
      actor,
      action: `${step.change.kind} ${step.change.action}`,
      target: { kind: step.change.kind, id: step.change.id },
      before: auditedFields(step.before, step.change),
      after: auditedFields(step.after, step.change),
      at,
    }),
  ])
  const refusal = await tryTransact(table, { switches: { Put: item }, ...Object.fromEntries(entries) })
  if (refusal !== undefined && !refusal.failed.has('switches')) {
    throw refusal
  }
  return refusal === undefined
}

/** What is set for the target; null for what the configuration decides. */
function auditedFields({ channels, models }: Switches, { kind, id }: SwitchChange): AuditedFields {
  if (kind === 'model') {
    return { state: stateOf(switchesOf(models, id)?.enabled?.value) }
  }
  const { enabled, weight, priority } = switchesOf(channels, id) ?? {}
  return { state: stateOf(enabled?.value), weight: weight?.value ?? null, priority: priority?.value ?? null }
}

function stateOf(enabled: boolean | undefined): string | null {
  return enabled === undefined ? null : enabled ? 'enabled' : 'disabled'
}
