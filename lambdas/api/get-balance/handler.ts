import { balanceView } from '#core/api/balance.ts'
import { accountOf, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { createCallerWithAccountReader } from '#store/caller-with-account.ts'

/** GET /v1/balance */
export const handler = apiHandler(
  { operation: 'get-balance', lookUpKey: createCallerWithAccountReader() },
  async (event) => jsonResult(200, JSON.stringify(balanceView(accountOf(event), Date.now()))),
)
