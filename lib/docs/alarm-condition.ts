import { Stack } from 'aws-cdk-lib'
import type { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch'

/** An alarm with one metric has these itself; one with an expression has them in its metrics. */
type Query = {
  readonly expression?: string
  readonly label?: string
  readonly period?: number
  readonly metricStat?: {
    readonly metric: { readonly metricName: string }
    readonly period: number
    readonly stat: string
  }
}

/** When an alarm rings, such as `10 % of at least 20 in 5 min, 2 periods in a row`. */
export function alarmCondition(alarm: CfnAlarm): string {
  const queries: readonly Query[] = Stack.of(alarm).resolve(alarm.metrics) ?? []
  const stats = queries.flatMap(({ metricStat }) => metricStat ?? [])
  const seconds = alarm.period ?? stats[0]?.period ?? 0
  const statistic = alarm.extendedStatistic ?? alarm.statistic ?? stats[0]?.stat ?? ''
  const isBelow = alarm.comparisonOperator === 'LessThanThreshold'
  const expressions = queries.map(({ expression = '' }) => expression).join()
  const [, isOfAll, atLeast] = /IF\((\()?.*>= (\d+)/.exec(expressions) ?? []
  const isShare = queries.some(({ label = '' }) => label.endsWith('percent'))
  const unit = isShare ? ' %' : unitOf(alarm.metricName ?? stats[0]?.metric.metricName ?? '')
  return [
    `${isBelow ? 'below ' : ''}${statistic === 'Sum' || isShare ? '' : `${statistic.replace('Maximum', 'maximum')} `}${alarm.threshold?.toLocaleString('en')}${unit}`,
    atLeast === undefined ? '' : `${isOfAll ? ' of at least' : ' and at least'} ${atLeast}`,
    ` in ${seconds / 60} min`,
    alarm.evaluationPeriods === 1 ? '' : `, ${alarm.evaluationPeriods} periods in a row`,
  ].join('')
}

/** Of metrics whose names and documents say a unit. */
function unitOf(metricName: string): string {
  if (metricName === 'Latency') {
    return ' ms'
  }
  return metricName.endsWith('_seconds') ? ' s' : ''
}
