import { ignoredVideoFields, offerVideoJob, videoQuote } from '#core/api/video-job-request.ts'
import { accountOf, authenticatedCaller } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { createVideoQuote } from '#routes/video-jobs.ts'
import { createCallerWithAccountReader } from '#store/caller-with-account.ts'
import { CurrentCatalogue } from '#store/current-catalogue.ts'
import { openTable } from '#store/table/sdk-table.ts'

const table = once(openTable)
const currentCatalogue = once(() => new CurrentCatalogue({ table: table(), catalogue: openCatalogue() }))
const findCallerWithAccount = createCallerWithAccountReader()

export const handler = apiHandler(
  createVideoQuote,
  {
    unknownFields: ignoredVideoFields,
    openTable: table,
    lookUpKey: (opened, shown) => currentCatalogue().readBeside(() => findCallerWithAccount(opened, shown)),
  },
  async (event) => {
    const catalogue = await currentCatalogue().read()
    const offer = offerVideoJob(event.json, { catalogue, allowedModels: authenticatedCaller(event).models })
    return videoQuote(offer, accountOf(event), Date.now())
  },
)
