import { Duration } from 'aws-cdk-lib'
import type { AdminApi } from './admin-api.ts'
import type { AlarmDefinition } from './alarm-definition.ts'
import { functionsBelow } from './gateway-function.ts'
import type { ServiceMetrics } from './service-metrics.ts'
import { sumOfMetrics } from './sum-of-metrics.ts'

const MINUTES = 5

/** Alarms on the functions of the console, whose errors would be lost in those of the API. The runbook explains each threshold. */
export function consoleAlarms(adminApi: AdminApi, metrics: ServiceMetrics): readonly AlarmDefinition[] {
  const period = Duration.minutes(MINUTES)
  const crashes = functionsBelow(adminApi).map((each) => each.function.metricErrors({ period }))
  return [
    {
      name: 'ConsoleErrors',
      meaning: 'Requests of the console end with an internal error.',
      metric: sumOfMetrics([metrics.sum('console_failed', MINUTES), ...crashes], period),
      threshold: 3,
    },
    {
      name: 'SignInsRefused',
      meaning: 'Sign-ins to the console keep failing.',
      metric: metrics.sum('sign_in_refused', MINUTES),
      threshold: 50,
    },
  ]
}
