import { RELAYED_UNITS, RELAYED_WRITES } from '../../test/engines/operation-units.ts'
import type { LimitName } from './service-limits.ts'

/** Writes of a request's two transactions to one item: balance and hold are in both, a counter is in the settlement. */
const TRANSACTIONS = { balance: 2, hold: 2, counter: 1 } as const

type Chats = {
  /** Of one tenant. */
  readonly chatsPerSecond: number
  readonly chatSeconds: number
}

/**
 * What the chats of one tenant ask of each limit on AWS, with one key and one model: then they all move one usage counter. A function
 * serves one request at a time, so the hold of its process moves only with its own requests.
 */
export function demandOfChats({ chatsPerSecond, chatSeconds }: Chats): Partial<Readonly<Record<LimitName, number>>> {
  return {
    'item-transactions': chatsPerSecond * TRANSACTIONS.balance,
    'counter-transactions': chatsPerSecond * TRANSACTIONS.counter,
    'hold-transactions': Math.min(chatsPerSecond, 1 / chatSeconds) * TRANSACTIONS.hold,
    // The holds of all processes stand in the partition of the tenant.
    'hold-partition-writes': chatsPerSecond * RELAYED_WRITES.hold,
    'counter-partition-writes': chatsPerSecond * RELAYED_WRITES.counter,
    'ledger-partition-writes': chatsPerSecond * RELAYED_WRITES.ledger,
    'lambda-concurrency': chatsPerSecond * chatSeconds,
    'table-writes': chatsPerSecond * RELAYED_UNITS.writes,
  }
}
