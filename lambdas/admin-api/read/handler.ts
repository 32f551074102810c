import { VerificationRate } from '#lambdas/admin/verification-rate.ts'
import { adminHandler } from '#middleware/admin-chain.ts'
import { once } from '#platform/cache.ts'
import type { OpenUrlSigner } from '#platform/cdn/video-urls.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { readCurrentFigures } from '#platform/telemetry/current-figures.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { readOperations } from './read-operations.ts'
import { summarySource } from './summary-source.ts'

const table = once(openTable)
const now = Date.now
const config = once(() => openCatalogue().config)
const summary = summarySource({ table, now, isLive: process.env.CONSOLE_SUMMARY === 'live' })

/** The operations of the admin API that show things. */
export const handler = adminHandler(
  'read',
  readOperations({
    table,
    summary,
    config,
    figures: readCurrentFigures,
    verifications: new VerificationRate(),
    // Loaded when an owner first looks at an open job: it brings the client of Step Functions.
    describeExecution: async (...execution) =>
      (await import('#platform/aws/video-executions.ts')).describeVideoExecution(...execution),
    openBucket: once(openBucket),
    // Loaded with the first video that is shown.
    openSigner: async (job: Parameters<OpenUrlSigner>[0]) =>
      (await import('#platform/cdn/video-urls.ts')).openVideoUrlSigner(job),
    now,
  }),
  { openTable: table },
)
