import { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'

/** One thing that a person must look at. */
export type AlarmDefinition = {
  /** In camel case with a capital: also the heading of its entry in the runbook. */
  readonly name: string
  /**
   * Which of several alarms that share a name, a meaning and an entry, counted from one; the first when left out. From the
   * second on it stands behind the name.
   */
  readonly part?: number
  /** The channel that it is about alone; it stands behind the name and in the description. */
  readonly channel?: string
  /** One sentence about what has happened. */
  readonly meaning: string
  readonly metric: IMetric
  /** From this value on the metric is bad. */
  readonly threshold: number
  /** Periods of the metric in a row that must be bad; one when left out. */
  readonly periods?: number
  /**
   * The metric is bad below its threshold, and where nothing comes any more. Where nothing has come yet it is neither: a new
   * alarm begins in INSUFFICIENT_DATA and stays there without a word, and tells of its way back to it from OK.
   */
  readonly isSilenceBad?: boolean
}

/** Where the runbook is; each alarm's entry is the anchor of its name. */
export const RUNBOOK = 'docs/operations.md'

/** The alarm, named after its stack, with a description that leads to its entry in the runbook. */
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
