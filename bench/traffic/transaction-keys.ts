import * as z from 'zod'

const attribute = z.object({ S: z.string() })
const key = z.object({ PK: attribute, SK: attribute })
const write = z.union([
  z.object({ Put: z.object({ Item: key }) }).transform(({ Put }) => Put.Item),
  z.object({ Update: z.object({ Key: key }) }).transform(({ Update }) => Update.Key),
  z.object({ Delete: z.object({ Key: key }) }).transform(({ Delete }) => Delete.Key),
  z.object({ ConditionCheck: z.object({ Key: key }) }).transform(({ ConditionCheck }) => ConditionCheck.Key),
])
const transaction = z.object({ TransactItems: z.array(write) })

/** Items on which transactions are at work. */
export class TransactionKeys {
  readonly #taken = new Set<string>()

  /** Takes the items of a transaction, and returns a function that gives them back; undefined if another has one of them. */
  take(body: Buffer): (() => void) | undefined {
    const names = namesOf(body)
    if (names.some((name) => this.#taken.has(name))) {
      return undefined
    }
    for (const name of names) {
      this.#taken.add(name)
    }
    return () => {
      for (const name of names) {
        this.#taken.delete(name)
      }
    }
  }

  /** The error with which DynamoDB refuses a transaction whose items another one is at work on. */
  conflict(body: Buffer): object {
    const reasons = namesOf(body).map((name) =>
      this.#taken.size === 0 || this.#taken.has(name) ? { Code: 'TransactionConflict' } : { Code: 'None' },
    )
    return {
      __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
      message: 'Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]',
      CancellationReasons: reasons.every(({ Code }) => Code === 'None')
        ? reasons.map(() => ({ Code: 'TransactionConflict' }))
        : reasons,
    }
  }
}

function namesOf(body: Buffer): readonly string[] {
  const { TransactItems } = transaction.parse(JSON.parse(body.toString('utf8')))
  return TransactItems.map(({ PK, SK }) => `${PK.S}\n${SK.S}`)
}
