import { adminHandler } from '#middleware/admin-chain.ts'
import { once } from '#platform/cache.ts'
import type { OpenUrlSigner } from '#platform/cdn/video-urls.ts'
import { systemClock } from '#platform/clock.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { writeOperations } from './write-operations.ts'

const context = {
  ...systemClock,
  table: openTable(),
  openBucket: once(openBucket),
  openCatalogue: once(openCatalogue),
  // Loaded when a callback is sent again: nothing else signs urls here.
  openUrlSigner: async (job: Parameters<OpenUrlSigner>[0]) =>
    (await import('#platform/cdn/video-urls.ts')).openVideoUrlSigner(job),
}

/** The operations of the admin API that ADMIN_ROUTES gives to this function. */
export const handler = adminHandler('write', writeOperations(context), { openTable: () => context.table })
