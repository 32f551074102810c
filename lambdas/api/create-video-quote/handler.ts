import { offerVideoJob, unknownVideoFields, videoQuote } from '#core/api/video-job-request.ts'
import { accountOf, authenticatedCaller, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { createCallerWithAccountReader } from '#store/caller-with-account.ts'
import { CurrentCatalogue } from '#store/current-catalogue.ts'
import { openTable } from '#store/table/sdk-table.ts'

/** As for a create. */
const BODY_BYTES_MAX = 5 * 1024 * 1024

const table = once(openTable)
const currentCatalogue = once(() => new CurrentCatalogue({ table: table(), catalogue: openCatalogue() }))
const findCallerWithAccount = createCallerWithAccountReader()

/** POST /v1/video/quotes */
export const handler = apiHandler(
  {
    operation: 'create-video-quote',
    bodyBytesMax: BODY_BYTES_MAX,
    unknownFields: unknownVideoFields,
    openTable: table,
    lookUpKey: (opened, shown) => currentCatalogue().readBeside(() => findCallerWithAccount(opened, shown)),
  },
  async (event) => {
    const catalogue = await currentCatalogue().read()
    const offer = offerVideoJob(event.json, { catalogue, allowedModels: authenticatedCaller(event).models })
    return jsonResult(200, JSON.stringify(videoQuote(offer, accountOf(event), Date.now())))
  },
)
