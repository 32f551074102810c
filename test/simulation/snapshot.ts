import { BatchGetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { counterIdOf } from '#core/pricing/usage.ts'
import { readKeyBudget, readTenantBudget } from '#store/budgets.ts'
import { readReservationItem } from '#store/job-ledger/reservation.ts'
import { readVideoJobItem } from '#store/jobs/job-reader.ts'
import { readHoldItem } from '#store/relay-ledger/hold.ts'
import { readUsageCounter } from '#store/usage.ts'
import type { TableWithClient } from '../engines/test-table.ts'

/** Everything in the table at one moment, by what it is. */
export type Snapshot = ReturnType<typeof readSnapshot>

/** @throws ZodError for an item of another form than the product reads. */
export function readSnapshot(items: readonly Item[]) {
  const keyed = items.map(keyedItem)
  const of = (isMeant: (pk: string, sk: string) => boolean) => keyed.filter(({ pk, sk }) => isMeant(pk, sk))
  return {
    balances: of((pk) => pk.startsWith('BAL#')).map(({ pk, item }) => [pk.slice(4), readBalance(item)] as const),
    jobs: new Map(
      of((pk, sk) => pk.startsWith('T#') && sk.startsWith('JOB#')).map(({ sk, item }) => [sk.slice(4), jobOf(item)]),
    ),
    reservations: new Map(
      of((pk, sk) => pk.startsWith('T#') && sk.startsWith('RESERVATION#')).map(({ pk, sk, item }) => [
        sk.slice('RESERVATION#'.length),
        { tenantId: pk.slice(2), jobId: sk.slice('RESERVATION#'.length), ...reservationOf(item) },
      ]),
    ),
    holds: of((pk, sk) => pk.startsWith('T#') && sk.startsWith('PROC#')).map(({ item }) => holdOf(item)),
    counters: of((pk) => pk.startsWith('U#')).map(({ pk, item }) => {
      const counter = counterOf(item)
      return { tenantId: pk.slice(2), id: counterIdOf(counter), ...counter }
    }),
    ledger: new Map(of((pk) => pk.startsWith('L#')).map(({ pk, sk, item }) => [`${pk}/${sk}`, textOf(item)])),
    rows: of((pk) => pk.startsWith('L#')).map(({ pk, item }) => ({ tenantId: pk.slice(2), item })),
    keys: new Map(
      of((pk) => pk.startsWith('K#')).map(({ pk, item }) => [
        pk.slice(2),
        { state: keyState(item), revision: item.revision, budgetId: item.budgetId },
      ]),
    ),
    channels: new Map(of((pk) => pk.startsWith('CH#')).map(({ pk, item }) => [pk.slice(3), Number(item.open)])),
    keyBudgets: new Map(
      of((pk) => pk.startsWith('BUDGET#')).map(({ pk, item }) => [
        pk.slice(7),
        { tenantId: String(item.tenantId), budget: readKeyBudget(item) },
      ]),
    ),
    tenantBudgets: new Map(
      of((pk) => pk.startsWith('BAL#')).flatMap(({ pk, item }) => {
        const budget = readTenantBudget(item)
        return budget === undefined ? [] : [[pk.slice(4), budget] as const]
      }),
    ),
    alerts: of((pk, sk) => pk.startsWith('AL#') && sk.startsWith('ALERT#')).map(({ pk, item }) => alertOf(pk, item)),
    marks: new Map(
      of((pk, sk) => pk.startsWith('AL#') && sk.startsWith('MARK#')).map(({ pk, sk, item }) => [
        `${pk.slice(3)} ${sk.slice(5)}`,
        { isArmed: item.isArmed === true, period: item.period, crossed: numbers(item.crossed) },
      ]),
    ),
    /** What operators did so far: each transaction of a command has one entry. */
    audits: of((pk) => pk === 'AUDIT').length,
    cleanUps: of(() => true).filter(({ item }) => item.GSI1PK === 'CLEANUP').length,
  }
}

function alertOf(pk: string, { id, type, at, data, operators, tenant }: Item) {
  const { budget_of, key, period, period_id, crossed } = Object(data)
  const subject = budget_of === 'key' ? `key#${key}` : budget_of
  return {
    id: String(id),
    at: Number(at),
    subject: `${pk.slice(3)} ${type === 'balance.low' ? 'balance' : subject}`,
    kind: String(period),
    period: String(period_id),
    crossed: numbers(crossed),
    operators,
    tenant,
  }
}

function numbers(list: unknown): readonly number[] {
  return Array.isArray(list) ? list.map(Number) : []
}

function keyState({ state, suspended }: Item): string {
  return suspended === true ? 'suspended' : String(state)
}

/** Reads an item once: the snapshots of a history share the items that did not change. */
function once<Value>(read: (item: Item) => Value): (item: Item) => Value {
  const known = new WeakMap<Item, { readonly value: Value }>()
  return (item) => {
    const { value } = known.get(item) ?? { value: read(item) }
    known.set(item, { value })
    return value
  }
}

const jobOf = once(readVideoJobItem)
const reservationOf = once(readReservationItem)
const holdOf = once(readHoldItem)
const counterOf = once(readUsageCounter)
const keyedItem = once((item) => ({ item, pk: String(item.PK), sk: String(item.SK) }))

/** A row as it must stay. */
const textOf = once(textOfValue)

/** The same for equal values: the table returns the attributes of an item in any order. */
function textOfValue(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? `{${Object.entries(value)
        .map(([name, part]) => `${name}=${textOfValue(part)}`)
        .toSorted()
        .join()}}`
    : String(value)
}

/** A stored amount, in microcredits; nothing is zero. */
export function amount(value: unknown): bigint {
  return BigInt(typeof value === 'bigint' ? value : Number(value ?? 0))
}

export type Balance = ReturnType<typeof readBalance>

function readBalance(item: Item) {
  return {
    available: amount(item.available),
    held: amount(item.held),
    spent: amount(item.spent),
    granted: amount(item.granted),
    lowBalance: item.lowBalance === undefined ? undefined : amount(item.lowBalance),
    openJobs: Number(item.openJobs ?? 0),
    openJobsMax: Number(item.openJobsMax ?? Number.POSITIVE_INFINITY),
  }
}

export type Item = Readonly<Record<string, unknown>>
type Key = { readonly PK: string; readonly SK: string }

/** As many keys as one batch reads (API reference of BatchGetItem). */
const KEYS_MAX = 100

/** Parts of a write that name an item. */
type Part = { readonly Key?: object; readonly Item?: object }

/**
 * The whole table, of which only the items that were written are read again: a history looks at everything after every write.
 * An item that did not change is the same object as before.
 */
export class TableMirror {
  readonly #table: TableWithClient
  #items = new Map<string, Item>()
  #written = new Map<string, Key>()
  #isWhole = false

  constructor(table: TableWithClient) {
    this.#table = table
  }

  /** Notes the items of a write that was carried out. */
  note(input: object): void {
    const parts: readonly Part[] =
      'TransactItems' in input && Array.isArray(input.TransactItems)
        ? input.TransactItems.flatMap((item) => Object.values(item))
        : [input]
    for (const part of parts) {
      const key = keyOf(part.Key ?? part.Item ?? {})
      this.#written.set(nameOf(key), key)
    }
  }

  /** The next read reads every item. */
  forget(): void {
    this.#isWhole = false
  }

  /** Everything in the table. Nothing may be under way. */
  async read(): Promise<readonly Item[]> {
    if (!this.#isWhole || this.#written.size > KEYS_MAX) {
      await this.#readAll()
    } else if (this.#written.size > 0) {
      await this.#readWritten()
    }
    this.#written = new Map()
    return [...this.#items.values()]
  }

  async #readAll(): Promise<void> {
    this.#items = new Map()
    let startKey: Item | undefined
    do {
      const scan = new ScanCommand({ TableName: this.#table.name, ConsistentRead: true, ExclusiveStartKey: startKey })
      const page = await this.#table.client.send(scan)
      this.#keep(page.Items ?? [])
      startKey = page.LastEvaluatedKey
    } while (startKey !== undefined)
    this.#isWhole = true
  }

  async #readWritten(): Promise<void> {
    for (const name of this.#written.keys()) {
      this.#items.delete(name)
    }
    const { name } = this.#table
    const wanted = { [name]: { Keys: [...this.#written.values()], ConsistentRead: true } }
    const { Responses, UnprocessedKeys } = await this.#table.client.send(new BatchGetCommand({ RequestItems: wanted }))
    if (Object.keys(UnprocessedKeys ?? {}).length > 0) {
      throw new RangeError('the items of one transaction are more than a batch reads')
    }
    this.#keep(Responses?.[name] ?? [])
  }

  #keep(items: readonly Item[]): void {
    for (const item of items) {
      this.#items.set(nameOf(keyOf(item)), item)
    }
  }
}

function keyOf(item: object): Key {
  return { PK: 'PK' in item ? String(item.PK) : '', SK: 'SK' in item ? String(item.SK) : '' }
}

function nameOf({ PK, SK }: Key): string {
  return `${PK}/${SK}`
}

/** @returns the sentence when the rule does not hold. */
export function rule(holds: boolean, sentence: string): string[] {
  return holds ? [] : [sentence]
}

/** The total, in the unit of the amounts. */
export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, each) => total + each, 0n)
}

/** What is there more than once. */
export function repeated(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))]
}
