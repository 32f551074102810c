import { once } from '#platform/cache.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { signInHandler } from './sign-in-handler.ts'

/** The function that makes and ends sessions of the console. */
export const handler = signInHandler({ table: once(openTable), environment: process.env })
