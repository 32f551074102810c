import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { StepContext } from '#lambdas/pipeline/step-context.ts'
import type { AdminResponse } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import type { OpenUrlSigner } from '#platform/cdn/video-urls.ts'
import type { Clock } from '#platform/clock.ts'
import type { OpenBucket } from '#store/bucket/bucket.ts'
import type { Table } from '#store/table/table.ts'

/** What the operations that change something take from outside. */
export type WriteContext = Pick<Clock, 'nowMilliseconds'> &
  Pick<StepContext, 'network'> & {
    /** Signs the url of a video in a callback that is sent again. */
    readonly openUrlSigner: OpenUrlSigner
    readonly table: Table
    readonly openBucket: OpenBucket
    /** The configuration of the deployment, without switches. */
    readonly openCatalogue: () => Catalogue
  }

/** One operation that changes something. */
export type WriteOperation = (event: ApiEvent, context: WriteContext) => Promise<AdminResponse>
