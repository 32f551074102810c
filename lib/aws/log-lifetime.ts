import { type IAspect, RemovalPolicy } from 'aws-cdk-lib'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import type { IConstruct } from 'constructs'

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
