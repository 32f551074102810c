import { randomUUID } from 'node:crypto'
import {
  DynamoDBServiceException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { type TableWithClient, tableWithClient } from '../engines/test-table.ts'
import type { Faults, Storms } from './faults.ts'
import { type Guard, withoutGuards } from './guards.ts'
import type { Scheduler } from './scheduler.ts'
import { type Item, TableMirror } from './snapshot.ts'

/** A token is known for this long after its first transaction (API reference of TransactWriteItems, "ClientRequestToken"). */
const TOKEN_MILLISECONDS = 10 * 60 * 1000

type Use = { readonly token: string | undefined; readonly isRepeat: boolean }

/**
 * Lets the tokens of transactions expire in the time of the history: the engine knows only real time. A transaction under a
 * token that was carried out before changes nothing; ten minutes later the same token is a new one.
 */
export class RequestTokens {
  readonly #nowMilliseconds: () => number
  readonly #engineTokens = new Map<unknown, string>()
  readonly #completedAt = new Map<unknown, number>()

  constructor(nowMilliseconds: () => number) {
    this.#nowMilliseconds = nowMilliseconds
  }

  /** The token to send to the engine, and whether it carried this transaction out before. */
  use(input: object): Use {
    const own = tokenOf(input)
    if (own === undefined) {
      return { token: undefined, isRepeat: false }
    }
    const completedAt = this.#completedAt.get(own)
    if (completedAt !== undefined && this.#nowMilliseconds() > completedAt + TOKEN_MILLISECONDS) {
      this.#engineTokens.delete(own)
      this.#completedAt.delete(own)
    }
    const token = this.#engineTokens.get(own) ?? randomUUID()
    this.#engineTokens.set(own, token)
    return { token, isRepeat: this.#completedAt.has(own) }
  }

  complete(input: object): void {
    const own = tokenOf(input)
    if (own !== undefined && !this.#completedAt.has(own)) {
      this.#completedAt.set(own, this.#nowMilliseconds())
    }
  }
}

function tokenOf(input: object): unknown {
  return 'ClientRequestToken' in input ? input.ClientRequestToken : undefined
}

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** A transaction that was carried out. */
export type Written = { readonly items: readonly TransactItem[] }

/** The pause before a contended request's next try is drawn again, from the history's own dice. */
const RETRY_MILLISECONDS_MAX = 800

/** A request is refused when its signature is older than this (IAM user guide, "Troubleshoot Signature Version 4 requests"). */
const SIGNATURE_MILLISECONDS_MAX = 5 * 60 * 1000

/** A slot of a channel that was taken: under which bound, by which time, and since when an operator had disabled the channel. */
export type Claim = {
  readonly channelId: string
  readonly max: number
  /** Unix seconds. */
  readonly claimedAt: number
  /** Unix milliseconds; undefined for an enabled channel. */
  readonly disabledSince: number | undefined
}

type Command = { readonly input: object; readonly constructor: { readonly name: string } }
type Options = {
  readonly scheduler: Scheduler
  readonly faults: Faults
  readonly storms: Storms | undefined
  readonly missing: readonly Guard[]
}

/** The real table engine behind a door at which anything may happen, and with the named guards taken out of the product. */
export class SimulatedTable {
  readonly table: TableWithClient
  readonly transactions: Written[] = []
  /** Writes carried out so far. */
  writes = 0
  readonly #plain: TableWithClient
  readonly #mirror: TableMirror
  readonly #claims: Claim[] = []
  /** Unix milliseconds, by channel. */
  readonly #disabledSince = new Map<string, number>()
  readonly #nowMilliseconds: () => number

  constructor(plain: TableWithClient, { scheduler, faults, storms, missing }: Options) {
    this.#plain = plain
    this.#mirror = new TableMirror(plain)
    this.#nowMilliseconds = scheduler.nowMilliseconds
    const tokens = new RequestTokens(scheduler.nowMilliseconds)
    const send = async (command: Command): Promise<unknown> => {
      const { name } = command.constructor
      const input = withoutGuards(command.input, missing)
      const isWrite = !/^(Get|BatchGet|Query|Scan)/.test(name)
      const signedAt = scheduler.nowMilliseconds()
      const carryOut = async () => {
        // Its process may have stood still between the signature and the sending.
        if ((scheduler.current()?.frozenUntil ?? 0) > signedAt + SIGNATURE_MILLISECONDS_MAX) {
          throw signatureExpired()
        }
        const { token, isRepeat } = tokens.use(input)
        const sent = token === undefined ? input : { ...input, ClientRequestToken: token }
        const output = await plain.client.send(Object.assign(Object.create(command), { input: sent }))
        tokens.complete(input)
        this.#note({ isWrite, isRepeat, input: command.input })
        return output
      }
      const conflict = isWrite ? () => conflictOf(input) : undefined
      const isTransaction = 'TransactItems' in input
      const act = storms === undefined ? carryOut : () => storms.pass(carryOut, { conflict, isTransaction })
      return await faults.pass(`table ${name}`, act, conflict)
    }
    this.table = tableWithClient({
      name: plain.name,
      nowMilliseconds: scheduler.nowMilliseconds,
      pause: () => scheduler.pause(scheduler.random() * RETRY_MILLISECONDS_MAX),
      client: Object.assign(Object.create(plain.client), { send }),
    })
  }

  /** Everything in the table, at this very moment. */
  async everything(): Promise<readonly Item[]> {
    return await this.#mirror.read()
  }

  /** Everything in the table, read again item by item: for a look after writes that did not pass this door. */
  async everythingAgain(): Promise<readonly Item[]> {
    this.#mirror.forget()
    return await this.#mirror.read()
  }

  /** Slots of channels that were taken since this was asked last. */
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

  #note({ isWrite, isRepeat, input }: { isWrite: boolean; isRepeat: boolean; input: object }): void {
    if (isWrite) {
      this.writes += 1
      this.#mirror.note(input)
    }
    if ('TransactItems' in input && !isRepeat) {
      const items = input.TransactItems as TransactItem[]
      this.transactions.push({ items })
      this.#noteSwitches(items)
      this.#claims.push(...items.flatMap(({ Update }) => this.#claimOf(Update, items)))
    }
  }

  #noteSwitches(items: readonly TransactItem[]): void {
    const { channels } = Object(items.find(({ Put }) => Put?.Item?.PK === 'SWITCHES')?.Put?.Item)
    if (channels === undefined) {
      return
    }
    const disabled = Object.keys(channels).filter((id) => channels[id].enabled !== undefined)
    for (const id of [...this.#disabledSince.keys()].filter((known) => !disabled.includes(known))) {
      this.#disabledSince.delete(id)
    }
    for (const id of disabled.filter((each) => !this.#disabledSince.has(each))) {
      this.#disabledSince.set(id, this.#nowMilliseconds())
    }
  }

  #claimOf(update: TransactItem['Update'], items: readonly TransactItem[]): Claim[] {
    const isClaim = String(update?.Key?.PK).startsWith('CH#') && update?.ExpressionAttributeValues?.[':open'] === 1
    const channelId = String(update?.Key?.PK).slice('CH#'.length)
    const job = items.find(({ Update }) => Update?.ExpressionAttributeValues?.[':submitState'] !== undefined)?.Update
    const claimedAt = Number(job?.ExpressionAttributeValues?.[':submittedAt'] ?? 0)
    // A claim without a bound is one that nothing bounds.
    const max = Number(update?.ExpressionAttributeValues?.[':max'] ?? 0)
    return isClaim ? [{ channelId, max, claimedAt, disabledSince: this.#disabledSince.get(channelId) }] : []
  }
}

function signatureExpired(): Error {
  const name = 'InvalidSignatureException'
  return new DynamoDBServiceException({ name, $fault: 'client', message: 'Signature expired', $metadata: {} })
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
