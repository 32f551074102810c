import type { AdminFunction } from '#core/admin/routes.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/platform-facts.ts'
import type { FunctionNeeds } from './function-needs.ts'
import type { TableAccess } from './job-table.ts'

/** As for the functions of the API: a person waits. */
const ADMIN_MEMORY_MEGABYTES = 1024

/** Every request reads its session, and the key that made it. */
const admin = {
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.api,
  memoryMegabytes: ADMIN_MEMORY_MEGABYTES,
  provesFrontDoor: true,
} as const

/**
 * The needs of each function of the admin API. A function that shows things cannot write. `JobTable.grant` denies the changes of `AUDIT` that
 * the shared lists of transactions would allow.
 */
export const ADMIN_NEEDS: Readonly<Record<AdminFunction, FunctionNeeds>> = {
  'sign-in': {
    ...admin,
    table: [
      { actions: ['BatchGetItem', 'GetItem'], partitions: ['ADMINKEYS', 'K#*', 'KEYS', 'SESSIONS', 'TENANTS'] },
      { actions: ['Query'], partitions: ['SESSIONS'] },
      { actions: ['UpdateItem'], partitions: ['SESSIONS', 'SIGNIN#*'] },
      { actions: ['PutItem'], partitions: ['AUDIT', 'SESSIONS'] },
      // The deletion of a session shares a transaction with its entry of the audit log. Links are used on loopback alone.
      { actions: ['DeleteItem'], partitions: ['AUDIT', 'LINK#*', 'SESSIONS'] },
    ],
    transacts: true,
  },
  read: {
    ...admin,
    table: [
      {
        actions: ['BatchGetItem', 'GetItem', 'Query'],
        partitions: [
          'ADMINKEYS',
          'AUDIT',
          'BAL#*',
          'BUDGET#*',
          'CH#*',
          'FAILURES',
          'KEYS',
          'L#*',
          'SESSIONS',
          'SUMMARY',
          'SWITCHES',
          'T#*',
          'TENANTS',
          'U#*',
        ],
      },
    ],
    objects: { 'requests/': ['GetObject'], 'texts/': ['GetObject'] },
    readsConfiguration: true,
    signsUrls: true,
  },
  write: {
    ...admin,
    table: [
      {
        actions: ['BatchGetItem', 'GetItem'],
        partitions: ['ADMINKEYS', 'BAL#*', 'BUDGET#*', 'K#*', 'KEYS', 'L#*', 'SESSIONS', 'SWITCHES', 'T#*', 'TENANTS'],
      },
      { actions: ['Query'], partitions: ['KEYS', 'T#*', 'U#*'] },
      {
        actions: ['PutItem', 'UpdateItem', 'ConditionCheckItem'],
        partitions: ['AUDIT', 'BAL#*', 'BUDGET#*', 'CH#*', 'K#*', 'KEYS', 'L#*', 'SWITCHES', 'T#*', 'TENANTS', 'U#*'],
      },
      { actions: ['UpdateItem'], partitions: ['FAILURES', 'SIGNIN#*'] },
    ],
    transacts: true,
    objects: { 'v/': ['DeleteObject'], 'requests/': ['DeleteObject'], 'texts/': ['DeleteObject'] },
    readsConfiguration: true,
    signsUrls: true,
  },
}

/** What Reconcile needs besides, to write the summary that the console shows of all tenants. */
export const SUMMARY_ACCESS: readonly TableAccess[] = [
  { actions: ['GetItem', 'UpdateItem'], partitions: ['SUMMARY'] },
  { actions: ['Query'], partitions: ['FAILURES', 'SUMMARY', 'TENANTS', 'U#*'] },
]
