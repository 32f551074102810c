import { VERSION } from '#core/version.ts'
import { jsonResult } from '#middleware/api-event.ts'
import { publicHandler } from '#middleware/public-handler.ts'

/**
 * GET /health: the API and its functions run, and which version of them. It looks at nothing behind them, so that it costs
 * an invocation and no more, whoever calls it; alarms watch the rest (docs/decisions/0057).
 */
export const handler = publicHandler('get-health', async () => {
  const answer = jsonResult(200, JSON.stringify({ status: 'ok', version: VERSION }))
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
})
