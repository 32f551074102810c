import { type CallAws, callAwsService } from '../../platform/aws/call-aws-service.ts'
import type { Clock } from '../../platform/clock.ts'
import { environmentVariable } from '../../platform/configuration.ts'
import { retryingTable, type TableTransport } from './retrying-table.ts'
import { decodeItem, encodeItem, type Item, type Table } from './table.ts'

type LeanTableOptions = {
  /** Sends one signed request; tests put faults in its way. */
  readonly call?: CallAws
  readonly name?: string
  /** How a contended request waits for its next try, and until when; by the system's clock when left out. */
  readonly clock?: Partial<Clock> | undefined
}

/**
 * Opens the table without the SDK, as relayed functions do (docs/decisions/0099): by
 * default the one that the environment names (`TABLE_NAME`).
 * @throws MissingEnvironmentError without a name.
 */
export function openLeanTable({
  call = callAwsService,
  name = environmentVariable('TABLE_NAME'),
  clock,
}: LeanTableOptions = {}): Table {
  return retryingTable(leanTransport(call), { name, clock })
}

function leanTransport(call: CallAws): TableTransport {
  const post = (operation: string, input: object) =>
    call({ service: 'dynamodb', target: `DynamoDB_20120810.${operation}`, body: JSON.stringify(input) })
  return {
    async get(input) {
      const { Item } = await post('GetItem', encodeFields(input))
      return { Item: decodeIfPresent(Item) }
    },
    async batchGet({ RequestItems }) {
      const encoded = mapValues(RequestItems, ({ Keys, ...rest }) => ({ ...rest, Keys: Keys.map(encodeItem) }))
      const { Responses = {}, UnprocessedKeys = {} } = await post('BatchGetItem', { RequestItems: encoded })
      return {
        Responses: mapValues(Object(Responses), decodeItems),
        UnprocessedKeys: mapValues(Object(UnprocessedKeys), (unread) => ({ Keys: decodeItems(Object(unread).Keys) })),
      }
    },
    async query(input) {
      const { Items, LastEvaluatedKey } = await post('Query', encodeFields(input))
      return { Items: decodeItems(Items), LastEvaluatedKey: decodeIfPresent(LastEvaluatedKey) }
    },
    async update(input) {
      const { Attributes } = await post('UpdateItem', encodeFields(input))
      return { Attributes: decodeIfPresent(Attributes) }
    },
    transactWrite: ({ TransactItems, ...rest }) =>
      post('TransactWriteItems', {
        ...rest,
        TransactItems: TransactItems.map((item) => mapValues(item, encodeFields)),
      }),
  }
}

/** The fields of a request that hold items. */
const ITEM_FIELDS = ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'] as const

type Fields = Readonly<Partial<Record<(typeof ITEM_FIELDS)[number], Item | undefined>>>

/** Encodes the fields that hold items; the others go as they are. */
function encodeFields(fields: Fields): object {
  const encoded: Record<string, unknown> = { ...fields }
  for (const name of ITEM_FIELDS) {
    const item = fields[name]
    if (item !== undefined) {
      encoded[name] = encodeItem(item)
    }
  }
  return encoded
}

function decodeItems(encoded: unknown): Item[] {
  return Array.isArray(encoded) ? encoded.map(decodeItem) : []
}

function decodeIfPresent(encoded: unknown): Item | undefined {
  return encoded === undefined ? undefined : decodeItem(encoded)
}

function mapValues<From, To>(values: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  const mapped: Record<string, To> = {}
  for (const [name, value] of Object.entries(values)) {
    mapped[name] = map(value)
  }
  return mapped
}
