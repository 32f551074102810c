import { VERSION } from '#core/version.ts'
import { jsonResult } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'

/**
 * GET /health: says that the API and its functions run, and their version. It reads nothing behind them, so that a call
 * costs one invocation, whoever makes it; alarms watch the rest.
 */
export const handler = handlerChain({ operation: 'get-health' }).handler(async () => {
  const response = jsonResult(200, JSON.stringify({ status: 'ok', version: VERSION }))
  return { ...response, headers: { ...response.headers, 'cache-control': 'no-store' } }
})
