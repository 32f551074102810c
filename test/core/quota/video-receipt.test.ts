import { describe, expect, it } from 'vitest'
import { parseCredits } from '#core/money/money.ts'
import type { PriceLine } from '#core/quota/price-line.ts'
import { type ReceiptRows, videoReceipt } from '#core/quota/video-receipt.ts'

const JOB = '01a1fc2e-81af-73ac-ac94-a565c804e433'

function line(quantity: string, amount: string): PriceLine {
  return { what: 'video', quantity, unit: 'second', unitPrice: '0.14', amount: parseCredits(amount) }
}

const reserve: ReceiptRows['reserve'] = {
  amount: parseCredits('0.7'),
  at: 1_795_263_797_500,
  lines: [line('5', '0.7')],
  model: 'famB-1.1-t2v',
  billing: 'per_second',
}

function receipt(resolution: Partial<NonNullable<ReceiptRows['resolution']>> | undefined) {
  const ended = { kind: 'settle', amount: parseCredits('0.7'), at: 1_795_263_862_000, lines: undefined } as const
  const actual = parseCredits('0.7056')
  const resolved = resolution === undefined ? undefined : { ...ended, actual, ...resolution }
  return videoReceipt(JOB, { reserve, resolution: resolved })
}

const shown = { what: 'video', quantity: '5.04', unit: 'second', unit_price: '0.14', amount: '0.7056' }

describe('videoReceipt', () => {
  it('has no cost and no lines while the job is open', () => {
    expect(receipt(undefined)).toEqual({
      object: 'video.receipt',
      id: JOB,
      model: 'famB-1.1-t2v',
      billing: 'per_second',
      estimate: '0.7',
      cost: null,
      lines: [],
      ledger: [{ kind: 'reserve', amount: '0.7', actual: null, at: 1_795_263_797 }],
    })
  })

  it('has the lines of a settlement', () => {
    expect(receipt({ lines: [line('5.04', '0.7056')] })).toMatchObject({
      cost: '0.7056',
      lines: [shown],
      ledger: [{ kind: 'reserve' }, { kind: 'settle', amount: '0.7', actual: '0.7056', at: 1_795_263_862 }],
    })
  })

  it('has the lines of the estimate if that was billed', () => {
    const billed = receipt({ actual: parseCredits('0.7') })
    expect(billed).toMatchObject({ cost: '0.7', lines: [{ quantity: '5', amount: '0.7' }] })
  })

  it('costs nothing after a release', () => {
    expect(receipt({ kind: 'release', actual: parseCredits('0') })).toMatchObject({
      cost: '0',
      lines: [],
      ledger: [{ kind: 'reserve' }, { kind: 'release', actual: null }],
    })
  })
})
