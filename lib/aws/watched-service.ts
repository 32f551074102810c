import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import type { AdminApi } from './admin-api.ts'
import type { GatewayApi } from './gateway-api.ts'
import type { JobTable } from './job-table.ts'
import type { ReconcileSchedule } from './reconcile-schedule.ts'
import type { RelayWebFunction } from './relay-web-function.ts'
import type { VideoPipeline } from './video-pipeline.ts'

/** The constructs that alarms and dashboard watch. */
export type WatchedService = {
  readonly api: GatewayApi
  readonly pipeline: VideoPipeline
  readonly reconcile: ReconcileSchedule
  readonly table: JobTable
  /** Undefined without the console. */
  readonly adminApi?: AdminApi | undefined
  /** The front door; undefined without the console. */
  readonly distribution?: Distribution | undefined
  /** The Web Function of relayed requests; undefined where functions relay them all. */
  readonly relay?: RelayWebFunction | undefined
}
