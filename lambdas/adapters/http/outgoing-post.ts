import type { Agent } from 'node:http'

/** The longest that an upstream may take, each in milliseconds. */
type UpstreamTimeouts = {
  /** Name look-up, TCP and TLS together; a connection of the pool has them behind it. */
  readonly connectMilliseconds: number
  /** From the open connection to the head of the answer. */
  readonly firstByteMilliseconds: number
  /** Between two pieces of the body. */
  readonly idleMilliseconds: number
}

/** Where a post goes, worked out once for each url. */
export type UpstreamTarget = {
  readonly isTls: boolean
  readonly hostname: string
  readonly port: string
  readonly path: string
  readonly agent: Agent
}

/** One post as it goes out. */
export type OutgoingPost = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeouts: UpstreamTimeouts
  /** By when the head of the answer is to be there, besides the timeouts: a time of `performance.now()`. */
  readonly deadline?: number | undefined
  /** Counts until the connection is open; from then on it does nothing. */
  readonly signal: AbortSignal | undefined
  /** Counts until there is an answer, whose body is then to be destroyed instead: nobody wants it any more. */
  readonly givenUp?: AbortSignal | undefined
}
