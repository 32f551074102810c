import type { AdminFunction } from '#core/admin/routes.ts'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import type { FunctionNeeds, TableAccess } from '#routes/needs.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/platform-facts.ts'

/** The needs of a function of the stack. */
export type SizedNeeds = FunctionNeeds & {
  readonly timeoutSeconds: number
  /** Query on the index of due items. */
  readonly dueIndex?: true
  /** Checks that its requests came through the front door. */
  readonly provesFrontDoor?: true
}

/** A function of the API on AWS: one operation, or several small reads of the same needs. */
export type ApiFunction = {
  /** Its folder below `lambdas/api/`. */
  readonly name: string
  readonly routes: readonly Route[]
  readonly streams: boolean
  readonly needs: SizedNeeds
}

/** Every function of the API, with what its routes need together. */
export const API_FUNCTIONS: readonly ApiFunction[] = [
  ...Map.groupBy<string, Route>(ROUTES, (route) => route.function),
].map(([name, routes]) => {
  const streams = routes.some((route) => route.streams === true)
  const timeoutSeconds = FUNCTION_TIMEOUT_SECONDS[streams ? 'relay' : 'api']
  return { name, routes, streams, needs: { timeoutSeconds, ...needsOf(routes) } }
})

/** The needs of some routes together. */
function needsOf(routes: readonly Route[]): FunctionNeeds {
  const needs = routes.map((route) => route.needs)
  const memoryMegabytes = Math.max(...needs.map((each) => each.memoryMegabytes))
  return { ...Object.assign({}, ...needs), memoryMegabytes, table: unite(needs.flatMap(({ table }) => table)) }
}

/** One access for each list of actions and attributes. */
function unite(accesses: readonly TableAccess[]): TableAccess[] {
  const byActions = Map.groupBy(accesses, ({ actions, attributes }) => `${actions} ${attributes}`)
  return [...byActions.values()].map((same) => ({
    ...same[0],
    actions: same[0]?.actions ?? [],
    partitions: [...new Set(same.flatMap(({ partitions }) => partitions))].sort(),
  }))
}

/** Reads the tenant of a rule; makes the key of a subject, or applies a changed rule to it, in one transaction. */
const TOKEN_ACCESS: readonly TableAccess[] = [
  { actions: ['GetItem'], partitions: ['BAL#*', 'BUDGET#*', 'K#*'] },
  // The items of tenants also hold the secrets of their callbacks.
  { actions: ['Query'], partitions: ['TENANTS'], attributes: ['name'] },
  {
    actions: ['PutItem', 'UpdateItem', 'ConditionCheckItem'],
    partitions: ['AUDIT', 'BAL#*', 'BUDGET#*', 'K#*', 'KEYS'],
  },
]

/** The needs of code that takes tokens of issuers in place of API keys. */
export function withTokens<Needs extends FunctionNeeds>(needs: Needs): Needs {
  return { ...needs, takesTokens: true, transacts: true, table: unite([...needs.table, ...TOKEN_ACCESS]) }
}

/** What the relay server may do, for every relayed operation and the models. Its size is fixed by Lambda. */
export const RELAY_SERVER_NEEDS: FunctionNeeds = needsOf(ROUTES.filter(({ relays }: Route) => relays))

/** These functions mostly wait for an upstream or the table, and no client waits for them. */
const STEP_MEMORY_MEGABYTES = 512
/** A whole CPU and its share of the network, to copy the largest video within the timeout. */
const STORE_MEMORY_MEGABYTES = 1769

const step = { memoryMegabytes: STEP_MEMORY_MEGABYTES, readsConfiguration: true } as const

/** Ending a job: one transaction of status, ledger row and balance, and the deletion of objects in the bucket. */
const resolution = {
  table: [
    { actions: ['GetItem'], partitions: ['T#*'] },
    { actions: ['PutItem', 'UpdateItem'], partitions: ['BAL#*', 'BUDGET#*', 'CH#*', 'L#*', 'T#*', 'U#*'] },
    { actions: ['UpdateItem'], partitions: ['FAILURES'] },
  ],
  transacts: true,
  objects: { 'v/': ['DeleteObject'], 'requests/': ['DeleteObject'], 'texts/': ['GetObject', 'DeleteObject'] },
} as const

/** The tasks of the state machine. */
export const STEP_NEEDS = {
  'submit-video-job': {
    ...step,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS['submit-video-job'],
    table: [
      { actions: ['GetItem'], partitions: ['GT#*', 'SWITCHES', 'T#*'] },
      { actions: ['UpdateItem'], partitions: ['CH#*', 'T#*'] },
    ],
    transacts: true,
    objects: { 'requests/': ['GetObject'], 'texts/': ['PutObject'] },
    callsUpstreams: 'video',
  },
  'check-references': {
    ...step,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS['check-references'],
    table: [{ actions: ['GetItem', 'UpdateItem'], partitions: ['T#*'] }],
    objects: { 'requests/': ['GetObject'] },
  },
  'poll-video-job': {
    ...step,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS['poll-video-job'],
    table: [
      { actions: ['GetItem'], partitions: ['CH#*', 'T#*'] },
      { actions: ['UpdateItem'], partitions: ['GT#*', 'T#*', 'UP#*'] },
    ],
    objects: { 'texts/': ['PutObject'] },
    callsUpstreams: 'video',
  },
  'store-video': {
    ...step,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS['store-video'],
    memoryMegabytes: STORE_MEMORY_MEGABYTES,
    table: [{ actions: ['GetItem', 'UpdateItem'], partitions: ['T#*'] }],
    objects: { 'texts/': ['GetObject'], 'v/': ['PutObject', 'AbortMultipartUpload', 'DeleteObject'] },
  },
  'settle-video-job': { ...step, timeoutSeconds: FUNCTION_TIMEOUT_SECONDS['settle-video-job'], ...resolution },
  'fail-video-job': { ...step, timeoutSeconds: FUNCTION_TIMEOUT_SECONDS['fail-video-job'], ...resolution },
} as const satisfies Record<string, SizedNeeds>

/** The last task of the state machine. */
export const WEBHOOK_NEEDS: SizedNeeds = {
  ...step,
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.webhook,
  table: [
    { actions: ['GetItem'], partitions: ['T#*', 'TENANTS'] },
    { actions: ['UpdateItem'], partitions: ['T#*'] },
  ],
  signsUrls: true,
}

/** Ends jobs without an execution and relayed requests without a function, and deletes their reservations. */
export const RECONCILE_NEEDS: SizedNeeds = {
  ...step,
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.reconcile,
  ...resolution,
  table: [
    { actions: ['GetItem'], partitions: ['AL#*', 'BAL#*', 'BUDGET#*', 'CH#*', 'T#*', 'TENANTS'] },
    { actions: ['BatchGetItem'], partitions: ['BAL#*', 'BUDGET#*', 'T#*'] },
    { actions: ['ConditionCheckItem'], partitions: ['BAL#*', 'BUDGET#*'] },
    {
      actions: ['PutItem', 'UpdateItem', 'DeleteItem'],
      partitions: ['AL#*', 'BAL#*', 'BUDGET#*', 'CH#*', 'L#*', 'T#*', 'U#*'],
    },
    { actions: ['UpdateItem'], partitions: ['FAILURES'] },
  ],
  dueIndex: true,
}

/** As for the functions of the API: a person waits. */
const ADMIN_MEMORY_MEGABYTES = 1024

/** Every request reads its session, and the key that made it. */
const admin = {
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.api,
  memoryMegabytes: ADMIN_MEMORY_MEGABYTES,
  provesFrontDoor: true,
  shipsOpenapi: 'admin-openapi.json',
} as const

/**
 * The needs of each function of the admin API. A function that shows things writes nothing but what limits rates. `JobTable.grant` denies the changes of `AUDIT` that
 * the shared lists of transactions would allow.
 */
export const ADMIN_NEEDS: Readonly<Record<AdminFunction, SizedNeeds>> = {
  'sign-in': {
    ...admin,
    table: [
      { actions: ['BatchGetItem', 'GetItem'], partitions: ['ADMINKEYS', 'K#*', 'KEYS', 'SESSIONS', 'TENANTS'] },
      { actions: ['Query'], partitions: ['SESSIONS', 'TENANTS'] },
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
      // The rates of admin keys, and of addresses that show wrong ones.
      { actions: ['UpdateItem'], partitions: ['SIGNIN#*'] },
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
