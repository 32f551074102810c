import { describe, expect, it } from '@jest/globals'
import type { Summary } from '#core/admin/summary.ts'
import { allUsage, parseAllUsageQuery } from '#core/admin/usage.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { microcredits } from '#core/money.ts'
import { NO_USAGE } from '#core/pricing/usage.ts'

const TODAY = '2026-11-22'
const counter = (day: string, model: string, cost: number) => ({
  ...NO_USAGE,
  ...{ day, keyId: 'k', operation: 'create-image', model, requests: 1, cost: microcredits(cost) },
})
const summary: Summary = {
  asOf: 1_795_000_000_000,
  tenants: [],
  days: new Map([
    ['2026-11-21', new Map([['a', [counter('2026-11-21', 'm', 1), counter('2026-11-21', 'n', 2)]]])],
    [
      TODAY,
      new Map([
        ['a', [counter(TODAY, 'm', 4)]],
        ['b', [counter(TODAY, 'm', 8)]],
      ]),
    ],
  ]),
}
const usage = (query: Readonly<Record<string, string>>) => allUsage(summary, parseAllUsageQuery(query, TODAY), TODAY)

describe('allUsage', () => {
  it('groups by tenant and other dimensions, in their order, with the total of all groups', () => {
    const body = usage({ group_by: 'tenant,model' })
    expect(body.data.map((row) => Object.values(row).slice(0, 2))).toEqual([
      ['a', 'm'],
      ['a', 'n'],
      ['b', 'm'],
    ])
    expect(body.total).toMatchObject({ requests: 4, cost: '0.000015' })
  })

  it('takes the days of the range alone', () => {
    expect(usage({ from: TODAY, to: TODAY }).data).toMatchObject([{ day: TODAY, cost: '0.000012' }])
  })

  it('pages over groups, each once', () => {
    const first = usage({ group_by: 'model', limit: '1' })
    expect([first.data.length, first.has_more, first.next]).toEqual([1, true, '1'])
    const second = usage({ group_by: 'model', limit: '1', after: '1' })
    expect([second.data, second.has_more, second.next]).toMatchObject([[{ model: 'n' }], false, null])
  })

  it('says which days it does not hold', () => {
    expect(usage({ from: '2026-10-01', to: TODAY }).left_out).toContain('2026-10-23')
    expect(usage({}).left_out).toBeNull()
  })
})

describe('parseAllUsageQuery', () => {
  it.each([{ group_by: 'tenant,tenant' }, { group_by: 'nothing' }, { after: 'x' }, { from: 'x' }])(
    'refuses %p',
    (query) => {
      expect(() => parseAllUsageQuery(query, TODAY)).toThrow(InvalidRequestError)
    },
  )

  it.each(['nothing', 'tenant,tenant', 'day,day', ''])(
    'names every group that there is in the refusal of %j',
    (group_by) => {
      const message = '`group_by` must hold some of day, model, key, operation, tenant, each once, separated by commas'
      expect(() => parseAllUsageQuery({ group_by }, TODAY)).toThrow(
        expect.objectContaining({ issues: [{ path: 'group_by', message }] }),
      )
    },
  )
})
