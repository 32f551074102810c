import { BatchGetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { TableWithClient } from '../engines/table-with-client.ts'

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
