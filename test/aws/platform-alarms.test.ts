import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { resourcesOf, synthesizeStack } from './synthesize-stack.ts'

const [alarm] = resourcesOf(synthesizeStack(), 'AWS::CloudWatch::Alarm').filter(({ properties }) =>
  properties.AlarmName.endsWith('-FunctionsThrottled'),
)

type Query = { readonly Id: string; readonly Expression?: string }

/** What the alarm compares with its threshold. CloudWatch's arithmetic and comparisons read as those of JavaScript. */
function alarmValueOf({ all, steps }: { readonly all: number; readonly steps: number }): number {
  const queries: readonly Query[] = alarm?.properties.Metrics ?? []
  const ids = queries.filter(({ Expression }) => Expression === undefined).map(({ Id }) => Id)
  const values = Object.fromEntries(ids.map((id) => [id, id === 'all' ? all : 0]))
  const { Expression = '' } = queries.find((each) => each.Expression !== undefined) ?? {}
  return Number(runInNewContext(Expression, { ...values, step0: steps, FILL: (value: number) => value }))
}

describe('platform-alarms: FunctionsThrottled', () => {
  it('rings for one throttled request, and for throttled steps of jobs from fifty on', () => {
    const rings = [
      { all: 0, steps: 0 },
      { all: 1, steps: 0 },
      { all: 49, steps: 49 },
      { all: 50, steps: 49 },
      { all: 50, steps: 50 },
    ].map((throttles) => alarmValueOf(throttles) >= alarm?.properties.Threshold)
    expect(rings).toEqual([false, true, false, true, true])
  })
})
