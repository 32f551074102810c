import { Duration } from 'aws-cdk-lib'
import { type IMetric, type IWidget, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { AlarmDefinition } from './alarm-definition.ts'
import { graph } from './graph.ts'
import type { RelayWebFunction } from './relay-web-function.ts'

const PERIOD = Duration.minutes(5)

/** Requests of a Web Function by the class of their status. Lambda publishes nothing for a class without requests. */
function relayResponses(
  { functionName }: Pick<RelayWebFunction, 'functionName'>,
  statusClass: '2XX' | '4XX' | '5XX',
): Metric {
  return new Metric({
    namespace: 'AWS/Lambda/Web',
    metricName: `HTTPResponseStatusClass${statusClass}`,
    dimensionsMap: { FunctionName: functionName },
    statistic: 'Sum',
    period: PERIOD,
  })
}

/** Alarms on the Web Function of relayed requests; missing data are good. The runbook explains each threshold. */
export function relayAlarms(relay: RelayWebFunction): readonly AlarmDefinition[] {
  return [
    {
      name: 'RelayServerErrors',
      meaning: 'With relay=web: one relayed request in a hundred or more ends with a 5xx.',
      metric: shareOfErrors(relay),
      threshold: 1,
      isRollbackTrigger: true,
    },
    {
      name: 'RelayNotStarting',
      meaning: 'With relay=web: a process of the relay server did not start.',
      metric: relay.failedStarts,
      threshold: 1,
    },
  ]
}

/** What the dashboard shows of the Web Function. */
export function relayServerGraphs(relay: RelayWebFunction): readonly IWidget[] {
  const responses = (['2XX', '4XX', '5XX'] as const).map((statusClass) => relayResponses(relay, statusClass))
  return [graph('Relay server: responses, and processes that did not start', responses, [relay.failedStarts])]
}

function shareOfErrors(relay: RelayWebFunction): IMetric {
  const usingMetrics = {
    succeeded: relayResponses(relay, '2XX'),
    refused: relayResponses(relay, '4XX'),
    failed: relayResponses(relay, '5XX'),
  }
  const requests = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`)
  return new MathExpression({
    expression: `IF(FILL(failed, 0) >= 5, 100 * FILL(failed, 0) / (${requests.join(' + ')}), 0)`,
    usingMetrics,
    label: '5xx, percent',
    period: PERIOD,
  })
}
