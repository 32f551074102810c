import { randomUUID } from 'node:crypto'

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
