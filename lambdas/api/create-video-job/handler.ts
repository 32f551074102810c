import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { ignoredVideoFields, readIdempotencyKey } from '#core/api/video-job-request.ts'
import { authenticatedCaller, headerOf, requestIdOf } from '#middleware/api-event.ts'
import { apiHandler, readKey } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { systemClock } from '#platform/clock.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { createVideoJob } from '#routes/video-jobs.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { TenantBudgets } from '#store/budget-moves.ts'
import { CurrentCatalogue } from '#store/current-catalogue.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { createVideoJob as create, SubmitRhythm } from './create-video-job.ts'

const table = openTable()
const catalogue = openCatalogue()
const currentCatalogue = new CurrentCatalogue({ table, catalogue })

const context = {
  ...systemClock,
  table,
  openBucket: once(openBucket),
  catalogue,
  currentCatalogue,
  newJobId: () => uuidv7(),
  randomHex: (bytes: number) => randomBytes(bytes).toString('hex'),
  submitRhythm: new SubmitRhythm(),
  tenantBudgets: new TenantBudgets(),
}

export const handler = apiHandler(
  createVideoJob,
  {
    unknownFields: ignoredVideoFields,
    openTable: () => table,
    lookUpKey: (_, shown) => currentCatalogue.readBeside(() => readKey(table, shown)),
  },
  async (event, lambda) => {
    const idempotencyKey = readIdempotencyKey(headerOf(event, 'idempotency-key'))
    const command = {
      caller: authenticatedCaller(event),
      body: event.json,
      idempotencyKey,
      requestId: requestIdOf(event, lambda),
    }
    return await create(command, context)
  },
)
