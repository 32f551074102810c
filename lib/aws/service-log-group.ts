import { RemovalPolicy } from 'aws-cdk-lib'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

/** As long as a job record is kept; the stage may say otherwise (LogLifetime). */
const RETENTION = RetentionDays.ONE_MONTH

/** A log group of the stack's own. `logGroupName` only where the writing service dictates the name. */
export class ServiceLogGroup extends LogGroup {
  constructor(scope: Construct, id: string, logGroupName?: string) {
    super(scope, id, {
      retention: RETENTION,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(logGroupName === undefined ? {} : { logGroupName }),
    })
  }
}
