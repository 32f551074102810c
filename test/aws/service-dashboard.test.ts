import { describe, expect, it } from 'vitest'
import { COUNTED_FACTS } from '#core/telemetry/counted-facts.ts'
import { MEASURES } from '#core/telemetry/measures.ts'
import { folderOf, resourcesOf, stageSettings, synthesizeStack } from './synthesize-stack.ts'

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
  const found = /MetricName=\W*(\w+)/.exec(metric)?.[1]
  return [shown, found].filter((name) => name !== undefined)
})

describe('ServiceDashboard', () => {
  it('is one page, named after its stack', () => {
    expect(dashboard?.properties.DashboardName).toEqual({
      'Fn::Join': ['', ['Reelgate-test-', { Ref: 'AWS::Region' }]],
    })
  })

  it('shows every measure, and only existing measures and facts', () => {
    const known: readonly string[] = [...Object.keys(MEASURES), ...COUNTED_FACTS]
    expect(namesOfOurs.filter((name) => !known.includes(name))).toEqual([])
    expect(Object.keys(MEASURES).filter((name) => !namesOfOurs.includes(name))).toEqual([])
  })

  it('shows the errors and throttles of every function of the service', () => {
    const ofService = /^(api|api-shared|pipeline)\//
    const folders = resourcesOf(template, 'AWS::Lambda::Function').map(({ properties }) => folderOf(properties))
    for (const [title, name] of Object.entries({ 'Lambda errors': 'Errors', 'Lambda throttles': 'Throttles' })) {
      const { properties } = widgets.find((widget: Widget) => widget.properties.title?.startsWith(title))
      const shown = properties.metrics.filter(
        ([namespace, metric]: string[]) => `${namespace} ${metric}` === `AWS/Lambda ${name}`,
      )
      expect(shown).toHaveLength(folders.filter((folder) => ofService.test(folder)).length)
    }
  })

  it('is omitted on emulators', () => {
    const settings = stageSettings({ profile: 'dev', emulator: true })
    expect(resourcesOf(synthesizeStack({ settings }), 'AWS::CloudWatch::Dashboard')).toEqual([])
  })
})
