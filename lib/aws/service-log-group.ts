import { RemovalPolicy } from 'aws-cdk-lib'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

/** The lifetime of a job record, unless the stage sets another (LogLifetime). */
const RETENTION = RetentionDays.ONE_MONTH

/** A log group of the stack. @param logGroupName only if the writing service dictates the name. */
export class ServiceLogGroup extends LogGroup {
  constructor(scope: Construct, id: string, logGroupName?: string) {
    super(scope, id, {
      retention: RETENTION,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(logGroupName === undefined ? {} : { logGroupName }),
    })
  }
}
