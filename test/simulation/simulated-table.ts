import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { ScanCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { type TableWithClient, tableWithClient } from '../engines/table-with-client.ts'
import type { Faults } from './faults.ts'
import { type Guard, withoutGuards } from './guards.ts'
import type { Scheduler } from './scheduler.ts'

export type Item = Readonly<Record<string, unknown>>
type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** A transaction that was carried out. */
export type Written = { readonly items: readonly TransactItem[] }

/** The pause before a contended request's next try is drawn again, from the history's own dice. */
const RETRY_MILLISECONDS_MAX = 800

export type Claim = { readonly channelId: string; readonly max: number }

type Command = { readonly input: object; readonly constructor: { readonly name: string } }
type Options = { readonly scheduler: Scheduler; readonly faults: Faults; readonly missing: readonly Guard[] }

/** The real table engine behind a door at which anything may happen, and with the named guards taken out of the product. */
export class SimulatedTable {
  readonly table: TableWithClient
  readonly transactions: Written[] = []
  /** Writes carried out so far. */
  writes = 0
  readonly #plain: TableWithClient
  readonly #claims: Claim[] = []
  readonly #tokens = new Set<unknown>()

  constructor(plain: TableWithClient, { scheduler, faults, missing }: Options) {
    this.#plain = plain
    const send = async (command: Command): Promise<unknown> => {
      const { name } = command.constructor
      const input = withoutGuards(command.input, missing)
      const isWrite = !/^(Get|Query|Scan)/.test(name)
      const act = async () => {
        const output = await plain.client.send(Object.assign(Object.create(command), { input }))
        this.#note(isWrite, command.input)
        return output
      }
      return await faults.pass(`table ${name}`, act, isWrite ? () => conflictOf(input) : undefined)
    }
    this.table = tableWithClient({
      name: plain.name,
      pause: () => scheduler.pause(scheduler.random() * RETRY_MILLISECONDS_MAX),
      client: Object.assign(Object.create(plain.client), { send }),
    })
  }

  /** Everything in the table, at this very moment. */
  async everything(): Promise<Item[]> {
    const items: Item[] = []
    let startKey: Item | undefined
    do {
      const scan = new ScanCommand({ TableName: this.#plain.name, ConsistentRead: true, ExclusiveStartKey: startKey })
      const page = await this.#plain.client.send(scan)
      items.push(...(page.Items ?? []))
      startKey = page.LastEvaluatedKey
    } while (startKey !== undefined)
    return items
  }

  /** Slots of channels that were taken since this was asked last, with the bound that each claim was made under. */
  takeClaims(): Claim[] {
    return this.#claims.splice(0)
  }

  /** Sends one item of an earlier transaction again, alone. @returns whether the table took it. */
  async takes(item: TransactItem, missing: readonly Guard[]): Promise<boolean> {
    try {
      const input = withoutGuards({ TransactItems: [item] }, missing)
      await this.#plain.client.send(new TransactWriteCommand(input))
      return true
    } catch (error) {
      if (error instanceof TransactionCanceledException) {
        return false
      }
      throw error
    }
  }

  /** A transaction sent again under its token was carried out before and changes nothing. */
  #isRepeat(input: object): boolean {
    const token = 'ClientRequestToken' in input ? input.ClientRequestToken : undefined
    const isKnown = token !== undefined && this.#tokens.has(token)
    this.#tokens.add(token)
    return isKnown
  }

  #note(isWrite: boolean, input: object): void {
    if (isWrite) {
      this.writes += 1
    }
    if ('TransactItems' in input && !this.#isRepeat(input)) {
      const items = input.TransactItems as TransactItem[]
      this.transactions.push({ items })
      this.#claims.push(...items.flatMap(({ Update }) => claimOf(Update)))
    }
  }
}

function claimOf(update: TransactItem['Update']): Claim[] {
  const isClaim = String(update?.Key?.PK).startsWith('CH#') && update?.UpdateExpression?.includes('#open :one') === true
  const channelId = String(update?.Key?.PK).slice('CH#'.length)
  // A claim without a bound is one that nothing bounds.
  return isClaim ? [{ channelId, max: Number(update?.ExpressionAttributeValues?.[':max'] ?? 0) }] : []
}

/** What DynamoDB answers when another write holds the same item: nothing was written. */
function conflictOf(input: object): Error {
  const common = { message: 'conflict', $metadata: {} }
  if (!('TransactItems' in input) || !Array.isArray(input.TransactItems)) {
    return new TransactionConflictException(common)
  }
  const items = input.TransactItems
  const CancellationReasons = items.map((_, index) => ({ Code: index === 1 ? 'TransactionConflict' : 'None' }))
  return new TransactionCanceledException({ ...common, CancellationReasons })
}
