import { describe, expect, it } from '@jest/globals'
import { checkOutcome } from './audit-traffic.ts'
import { formatMark, kindOf, type Outcome, ratePerMinute } from './marked-traffic.ts'

const MARK = { tenant: 3, request: 70 }
const OWN = formatMark(MARK)
const OTHERS = formatMark({ tenant: 4, request: 70 })

/** A chat of 13 tokens of input and 71 of output. */
function chat(changes: Partial<Outcome> & { readonly strange?: string } = {}): Outcome {
  const { strange = '', ...rest } = changes
  return {
    mark: MARK,
    kind: 'chat',
    key: 'key',
    leaving: undefined,
    status: 200,
    headers: headers(),
    body: `{"model":"${kindOf('chat').model}","choices":[{"content":"${OWN}${strange}"}]}`,
    end: 'whole',
    milliseconds: 1,
    ...rest,
  }
}

function headers(changes: object = {}) {
  const limit = String(ratePerMinute(MARK.tenant))
  return { 'x-request-id': 'a', 'x-reelgate-cost': '0.00155', 'x-ratelimit-limit-requests': limit, ...changes }
}

describe('checkOutcome', () => {
  it('finds nothing in a response of its own', () => {
    expect(checkOutcome(chat())).toEqual([])
  })

  it.each([
    ['the mark of another request in the body', { strange: OTHERS }],
    ['the mark of another request in a header', { headers: headers({ 'x-reelgate-ignored': OTHERS }) }],
    ['no mark of its own', { body: '{"model":"traffic-chat"}' }],
    ['the cost of another request', { headers: headers({ 'x-reelgate-cost': '0.00157' }) }],
    ['the rate of another tenant', { headers: headers({ 'x-ratelimit-limit-requests': '50004' }) }],
    ['no request id', { headers: headers({ 'x-request-id': undefined }) }],
    ['another status', { status: 500 }],
    ['no response', { status: undefined, end: 'broken' }],
    ['half a response', { end: 'broken' }],
  ] as const)('finds %s', (_, changes) => {
    expect(checkOutcome(chat(changes))).toHaveLength(1)
  })

  it('finds the balance of another tenant in a refusal', () => {
    const refusal = (available: string) =>
      chat({
        kind: 'too expensive',
        status: 402,
        headers: headers({ 'x-reelgate-cost': undefined }),
        body: `1000000 credits are needed, but ${available} are available`,
      })
    expect(checkOutcome(refusal('3999.5'))).toEqual([])
    expect(checkOutcome(refusal('4999.5'))).toHaveLength(1)
  })

  it('asks nothing of a response whose client has left before its head', () => {
    expect(checkOutcome(chat({ status: undefined, headers: {}, body: '', end: 'left' }))).toEqual([])
  })
})
