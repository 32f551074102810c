import { adminHandler } from '#middleware/admin-chain.ts'

/** The operations of the admin API that ADMIN_ROUTES gives to this function. */
export const handler = adminHandler('write', {})
