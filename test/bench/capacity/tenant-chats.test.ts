import { describe, expect, it } from 'vitest'
import { demandOfChats } from '../../../bench/capacity/tenant-chats.ts'
import { RELAYED_UNITS, RELAYED_WRITES } from '../../engines/operation-units.ts'

describe('the demand of the chats of one tenant', () => {
  it('names the balance first: twice the transactions of a usage counter', () => {
    expect(demandOfChats({ chatsPerSecond: 10, chatSeconds: 4 })).toMatchObject({
      'item-transactions': 20,
      'counter-transactions': 10,
      'hold-partition-writes': 40,
      'counter-partition-writes': 20,
      'ledger-partition-writes': 20,
      'lambda-concurrency': 40,
      'table-writes': 140,
    })
  })

  it('moves the hold of one process only as often as this process serves', () => {
    for (const chatsPerSecond of [1, 100]) {
      expect(demandOfChats({ chatsPerSecond, chatSeconds: 4 })).toMatchObject({ 'hold-transactions': 0.5 })
    }
    expect(demandOfChats({ chatsPerSecond: 0.1, chatSeconds: 4 })).toMatchObject({ 'hold-transactions': 0.2 })
  })

  it('divides all units of a request alone, but for the check of its key', () => {
    const { hold, balance, ledger, counter } = RELAYED_WRITES
    expect(hold + balance + ledger + counter).toBe(RELAYED_UNITS.writes - 2)
  })
})
