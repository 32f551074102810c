import { describe, expect, it } from 'vitest'
import { usageTable } from '../../../lib/cli/admin/usage.ts'
import { usageRow } from './usage-rows.ts'

const ROWS = [
  usageRow('chat-large', { requests: 12, inputTokens: 1_000, outputTokens: 5, cost: 2_000_000n }),
  usageRow('famB', { requests: 1, videoMilliseconds: 5_040, cost: 500_000n }),
]

const show = (rows = ROWS, columns?: number) => usageTable(rows, { by: ['model'], columns }).split('\n')

describe('usageTable', () => {
  it('aligns labels left and numbers right, leaves out numbers that no line has, and ends with the total', () => {
    expect(show()).toEqual([
      'TENANT  MODEL       REQUESTS  INPUT  OUTPUT  SECONDS  COST',
      'acme    chat-large        12   1000       5        0     2',
      'acme    famB               1      0       0     5.04   0.5',
      'total                     13   1000       5     5.04   2.5',
    ])
  })

  it('shows the costs as bars in the room that a terminal has left', () => {
    const [header = '', first = '', second = '', total = ''] = show(ROWS, 80)
    expect([header, total]).toEqual([show()[0], show()[3]])
    expect(first).toBe(`${show()[1]}  ${'█'.repeat(20)}`)
    expect(second).toBe(`${show()[2]}  ${'█'.repeat(5)}`)
    expect(first).toHaveLength(80)
  })

  it('shows bars of at most forty cells', () => {
    expect(show(ROWS, 500)[1]).toBe(`${show()[1]}  ${'█'.repeat(40)}`)
  })

  it('shows the bars below a table that leaves no room for them, without labels that never differ', () => {
    expect(show(ROWS, 65)).toEqual([...show(), '', `chat-large  ${'█'.repeat(40)}`, `famB        ${'█'.repeat(10)}`])
  })

  it('shows the smallest bar for a cost of less than a millionth of the highest', () => {
    const rows = [usageRow('large', { cost: 2_000_000n }), usageRow('small', { cost: 1n })]
    expect(show(rows, 80)[2]).toMatch(/ ▏$/)
  })

  it('shows no bars without room for them, without a terminal, and without costs', () => {
    expect(show(ROWS, 19)).toEqual(show())
    expect(show([usageRow('free', { requests: 1 })], 200).join('')).not.toContain('█')
  })

  it('shows the name of a tenant and of a key beside the id, and escapes control characters', () => {
    const row = usageRow('m', {}, { tenantName: 'Acme\u001b[2J', dimensions: { key: 'key1' }, keyName: 'search' })
    const [, line] = usageTable([row], { by: ['key'], columns: undefined }).split('\n')
    expect(line).toMatch(/^Acme\\u\{1b\}\[2J \(acme\) {2}key1 \(search\) {2}/)
  })
})
