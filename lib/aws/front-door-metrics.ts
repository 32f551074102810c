import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import type { AlarmDefinition } from './alarm-definition.ts'

const PERIOD = Duration.minutes(5)

/** Below it one failure would be a large share. */
const REQUESTS_MIN = 20

/** A metric of a distribution. CloudFront publishes in us-east-1 alone: a graph may be anywhere, an alarm must be there. */
export function frontDoorMetric(distributionId: string, metricName: 'Requests' | '5xxErrorRate'): Metric {
  return new Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    statistic: metricName === 'Requests' ? 'Sum' : 'Average',
    period: PERIOD,
    region: CLOUDFRONT_REGION,
  })
}

/** The alarm on errors that viewers see, those of CloudFront itself included. For a stack in us-east-1. */
export function frontDoorAlarm(distributionId: string): AlarmDefinition {
  return {
    name: 'FrontDoorErrors',
    meaning: 'The front door answers one request in twenty or more with a 5xx.',
    metric: new MathExpression({
      expression: `IF(requests >= ${REQUESTS_MIN}, errors, 0)`,
      usingMetrics: {
        errors: frontDoorMetric(distributionId, '5xxErrorRate'),
        requests: frontDoorMetric(distributionId, 'Requests'),
      },
      label: '5xx, percent',
      period: PERIOD,
    }),
    threshold: 5,
    unit: '%',
    minimum: `of at least ${REQUESTS_MIN}`,
    periods: 2,
  }
}
