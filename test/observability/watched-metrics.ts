import type { Template } from 'aws-cdk-lib/assertions'
import { resourcesOf } from '../stack/synthesize-stack.ts'

/** A dimension's value: a text, or an expression of CloudFormation. */
type Value = string | Readonly<Record<string, unknown>>

/** What makes a metric of CloudWatch the one that it is. */
export type WatchedMetric = {
  readonly namespace: string
  readonly name: string
  readonly dimensions: Readonly<Record<string, Value>>
}

/** An alarm of a template, by its name without that of the stack, and the metrics that it looks at. */
export type WatchingAlarm = { readonly name: string; readonly watched: readonly WatchedMetric[] }

/** Every alarm of a template. */
export function alarmsOf(template: Template, stackName: string): readonly WatchingAlarm[] {
  return resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ properties }) => ({
    name: String(properties.AlarmName).replace(`${stackName}-`, ''),
    watched: watchedBy(properties),
  }))
}

type Dimension = { readonly Name: string; readonly Value: Value }

/** The metrics that an alarm with these properties looks at. */
function watchedBy(properties: Record<string, unknown>): readonly WatchedMetric[] {
  const metrics = Array.isArray(properties.Metrics) ? properties.Metrics : []
  const stats = metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]))
  return [properties, ...stats].flatMap(({ Namespace: namespace, MetricName: name, Dimensions = [] }) => {
    const dimensions = Object.fromEntries(Dimensions.map(({ Name, Value }: Dimension) => [Name, Value]))
    return typeof name === 'string' ? [{ namespace, name, dimensions }] : []
  })
}
