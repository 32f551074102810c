import { type IAspect, RemovalPolicy } from 'aws-cdk-lib'
import { CfnLogGroup, LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct, IConstruct } from 'constructs'

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

type LogLifetimeProps = {
  /** A retention period that CloudWatch Logs supports. */
  readonly retentionDays: number
  readonly outlivesStack: boolean
}

/** Sets the retention of every log group below a construct. */
export class LogLifetime implements IAspect {
  readonly #props: LogLifetimeProps

  constructor(props: LogLifetimeProps) {
    this.#props = props
  }

  visit(node: IConstruct): void {
    if (node instanceof CfnLogGroup) {
      node.retentionInDays = this.#props.retentionDays
      node.applyRemovalPolicy(
        this.#props.outlivesStack ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      )
    }
  }
}
