import { isDeepStrictEqual } from 'node:util'
import { DeleteCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { TableWithClient } from '../engines/table-with-client.ts'

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
