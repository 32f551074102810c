import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { DeleteCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { TableWithClient } from '../engines/test-table.ts'

type Transaction = { readonly TransactItems: readonly object[]; readonly ClientRequestToken: string }

/** Runs in place of one request; `send` passes it on to the table, with changed members where some are given. */
type Interference = (input: object, send: (changes?: object) => Promise<void>) => Promise<void>

/** Puts something between a table and all requests that are sent to it from now on. */
function interfere(table: TableWithClient, interference: Interference): void {
  table.client.middlewareStack.add(
    (next) => async (args) => {
      if (!textOf(args.input).includes(`"${table.name}"`)) {
        return await next(args)
      }
      let output: Awaited<ReturnType<typeof next>> | undefined
      await interference(args.input, async (changes = {}) => {
        output = await next({ ...args, input: { ...args.input, ...changes } })
      })
      if (output === undefined) {
        throw new Error('the interference neither sent the request nor threw')
      }
      return output
    },
    { step: 'initialize' },
  )
}

function interfereWithTransactions(
  table: TableWithClient,
  interference: (transaction: Transaction, send: (token?: string) => Promise<void>) => Promise<void>,
): void {
  interfere(table, async (input, send) => {
    await (isTransaction(input)
      ? interference(input, (token = input.ClientRequestToken) => send({ ClientRequestToken: token }))
      : send())
  })
}

function isTransaction(input: object): input is Transaction {
  return 'TransactItems' in input && 'ClientRequestToken' in input
}

function textOf(input: object): string {
  return JSON.stringify(input, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** The table cancels transactions for a conflict when the dice say so. Gives the tries of each call, in order. */
export function stirConflicts(table: TableWithClient, isConflict: () => boolean): { readonly tries: () => number[] } {
  const tries = new Map<string, number>()
  interfereWithTransactions(table, async ({ TransactItems, ClientRequestToken: token }, send) => {
    tries.set(token, (tries.get(token) ?? 0) + 1)
    if (isConflict()) {
      throw new TransactionCanceledException({
        message: 'Transaction cancelled',
        $metadata: {},
        CancellationReasons: TransactItems.map((_, index) => ({
          Code: index === 1 ? 'TransactionConflict' : 'None',
        })),
      })
    }
    await send()
  })
  return { tries: () => [...tries.values()] }
}

/** Every transaction carries one and the same idempotency token, as only a fault of ours could do it. */
export function reuseToken(table: TableWithClient): void {
  const token = randomUUID()
  interfereWithTransactions(table, (_, send) => send(token))
}

/** DynamoDB remembers a token for ten minutes; after that a repeat is a transaction like any other. */
const TOKEN_MILLISECONDS = 10 * 60 * 1000

/** The table forgets tokens in the time of a test's clock. */
export function forgetTokens(table: TableWithClient, nowMilliseconds: () => number): void {
  const firstSeen = new Map<string, number>()
  interfereWithTransactions(table, async ({ ClientRequestToken: token }, send) => {
    const seenAt = firstSeen.get(token) ?? nowMilliseconds()
    firstSeen.set(token, seenAt)
    await send(nowMilliseconds() - seenAt > TOKEN_MILLISECONDS ? randomUUID() : token)
  })
}

/** Holds the first request whose text has `marker` in it, after letting `passing` of them through, until it is released. */
export function holdRequest(table: TableWithClient, marker: string, passing = 0) {
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let seen = 0
  interfere(table, async (input, send) => {
    seen += textOf(input).includes(marker) ? 1 : 0
    if (seen === passing + 1 && textOf(input).includes(marker)) {
      arrived.resolve()
      await released.promise
    }
    await send()
  })
  return { arrived: arrived.promise, release: released.resolve }
}

type Item = Readonly<Record<string, unknown>>

/** Every item of a table at one moment, by its keys. */
export type TableImage = ReadonlyMap<string, Item>

/** Reads a table that is small enough for one page. @throws RangeError for one that is not. */
export async function takeImage({ client, name }: TableWithClient): Promise<TableImage> {
  const { Items = [], LastEvaluatedKey } = await client.send(new ScanCommand({ TableName: name, ConsistentRead: true }))
  if (LastEvaluatedKey !== undefined) {
    throw new RangeError('the table is too large for one image')
  }
  return new Map(Items.map((item) => [`${item.PK} ${item.SK}`, item]))
}

/** Keys of the items that one image has otherwise than the other. */
export function changedKeys(before: TableImage, after: TableImage): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => !isDeepStrictEqual(before.get(key), after.get(key)),
  )
}

/** Puts single items back to what an image holds of them: nothing, where it has none. */
export async function putBack(table: TableWithClient, image: TableImage, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const item = image.get(key)
    if (item === undefined) {
      await remove(table, key)
    } else {
      await table.client.send(new PutCommand({ TableName: table.name, Item: { ...item } }))
    }
  }
}

export async function remove({ client, name }: TableWithClient, key: string): Promise<void> {
  const [PK = '', SK = ''] = key.split(' ')
  await client.send(new DeleteCommand({ TableName: name, Key: { PK, SK } }))
}

/** Every choice of some of the members, from none to all. */
export function subsets<Member>(members: readonly Member[]): Member[][] {
  return members.reduce<Member[][]>((chosen, member) => chosen.flatMap((each) => [each, [...each, member]]), [[]])
}
