import { describe, expect, it } from '@jest/globals'
import { COUNTED_FACTS, MEASURES, metricOfFact } from '#core/measures.ts'
import { resourcesOf, stageSettings, synthesizeStack } from './synthesize-stack.ts'

const template = synthesizeStack()
const [dashboard] = resourcesOf(template, 'AWS::CloudWatch::Dashboard')
const body: string = dashboard?.properties.DashboardBody['Fn::Join'][1]
  .map((part: unknown) => (typeof part === 'string' ? part : 'TOKEN'))
  .join('')
type Widget = { readonly properties: { readonly title?: string; readonly metrics?: readonly unknown[] } }

const { widgets } = JSON.parse(body)
const metrics: readonly string[] = widgets.flatMap(({ properties }: Widget) =>
  (properties.metrics ?? []).map((metric) => JSON.stringify(metric)),
)
const namesOfOurs = metrics.flatMap((metric) => {
  const shown = /^\["Reelgate-test","(\w+)","service","reelgate"/.exec(metric)?.[1]
  const found = /Reelgate-test\W+service,channel.*MetricName=\W*(\w+)/.exec(metric)?.[1]
  return [shown, found].filter((name) => name !== undefined)
})

describe('ServiceDashboard', () => {
  it('is one page, named after its stack', () => {
    expect(dashboard?.properties.DashboardName).toEqual({
      'Fn::Join': ['', ['Reelgate-test-', { Ref: 'AWS::Region' }]],
    })
  })

  it('shows every measure, and only existing measures and facts', () => {
    const known: readonly string[] = [...MEASURES, ...COUNTED_FACTS.map(metricOfFact)]
    expect(namesOfOurs.filter((name) => !known.includes(name))).toEqual([])
    expect(MEASURES.filter((name) => !namesOfOurs.includes(name))).toEqual([])
  })

  it('searches for the errors and throttles of every function of the stack', () => {
    for (const [title, name] of Object.entries({ 'Lambda errors': 'Errors', 'Lambda throttles': 'Throttles' })) {
      const shown = widgets.find((widget: Widget) => widget.properties.title?.startsWith(title))?.properties.metrics
      expect(shown?.map((metric: unknown) => JSON.stringify(metric)).join()).toMatch(
        new RegExp(`MetricName=\\W+${name}\\W+FunctionName=Reelgate-test`),
      )
    }
  })

  it('names at most the 50 metrics of a free dashboard, with the console too', () => {
    const [largest] = resourcesOf(
      synthesizeStack({ settings: stageSettings({ console: 'on' }) }),
      'AWS::CloudWatch::Dashboard',
    )
    const text: string = largest?.properties.DashboardBody['Fn::Join'][1]
      .map((part: unknown) => (typeof part === 'string' ? part : 'TOKEN'))
      .join('')
    const named = JSON.parse(text).widgets.flatMap(({ properties }: Widget) =>
      (properties.metrics ?? []).filter((metric) => Array.isArray(metric) && typeof metric[0] === 'string'),
    )
    expect(named.length).toBeLessThanOrEqual(50)
  })

  it('is omitted on emulators', () => {
    const settings = stageSettings({ profile: 'dev', emulator: true })
    expect(resourcesOf(synthesizeStack({ settings }), 'AWS::CloudWatch::Dashboard')).toEqual([])
  })
})
