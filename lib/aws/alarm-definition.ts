import { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'

/** One thing that a person must look at. */
export type AlarmDefinition = {
  /** In camel case with a capital: also the heading of its entry in the runbook. */
  readonly name: string
  /** Counts alarms that share a name, a meaning and an entry, from one (the default). From two on, the name ends in it. */
  readonly part?: number
  /** The one channel that the alarm watches; part of its name and of its description. */
  readonly channel?: string
  /** One sentence that says what has happened. */
  readonly meaning: string
  readonly metric: IMetric
  /** The metric is bad at this value and above. */
  readonly threshold: number
  /** How many periods in a row must be bad; one by default. */
  readonly periods?: number
  /**
   * The metric is bad below its threshold, and when its data stop. A new alarm starts in INSUFFICIENT_DATA and does not notify
   * anyone until data have arrived once and stopped again.
   */
  readonly isSilenceBad?: boolean
}

/** The runbook. Each alarm has an entry under its name. */
export const RUNBOOK = 'docs/runbook.md'

/** Creates an alarm that is named after its stack. Its description links to its entry in the runbook. */
export function createAlarm(scope: Construct, definition: AlarmDefinition): Alarm {
  const { name, part = 1, channel, meaning, metric, threshold, periods = 1, isSilenceBad = false } = definition
  const numbered = part === 1 ? name : `${name}${part}`
  const id = channel === undefined ? numbered : `${numbered}-${channel}`
  const ofChannel = channel === undefined ? '' : ` Channel: ${channel}.`
  return new Alarm(scope, id, {
    alarmName: `${Stack.of(scope).stackName}-${id}`,
    alarmDescription: `${meaning}${ofChannel} Runbook: ${RUNBOOK}#${name.toLowerCase()}`,
    metric,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: isSilenceBad
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: isSilenceBad ? TreatMissingData.MISSING : TreatMissingData.NOT_BREACHING,
  })
}
