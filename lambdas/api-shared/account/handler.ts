import { handler as getBalance } from '../../api/get-balance/handler.ts'
import { handler as getUsage } from '../../api/get-usage/handler.ts'
import { handler as getVideoReceipt } from '../../api/get-video-receipt/handler.ts'
import { sharedFunction } from '../shared-function.ts'

/** What a tenant has, used and paid: reads of the money of one account. */
export const handler = sharedFunction({
  'get-balance': getBalance,
  'get-usage': getUsage,
  'get-video-receipt': getVideoReceipt,
})
