import type { AdminFunction } from '#core/admin/routes.ts'
import type { ApiFunction } from '#core/api/routes.ts'
import { FUNCTION_TIMEOUT_SECONDS, type ObjectPrefix } from '../config/platform-facts.ts'
import type { ObjectAction } from './buckets.ts'
import type { TableAccess } from './job-table.ts'

/** The permissions and the size of one function; its role and its environment follow from them alone. */
export type FunctionNeeds = {
  readonly timeoutSeconds: number
  readonly memoryMegabytes: number
  /**
   * A transaction needs the actions of its parts, each in all partitions of the transaction: AWS does not document whether each
   * action is checked against the keys of all parts.
   */
  readonly table: readonly TableAccess[]
  /** Writes by transactions, in which AWS may not tell IAM the keys. */
  readonly transacts?: true
  /** Query on the index of due items. */
  readonly dueIndex?: true
  readonly objects?: Partial<Record<ObjectPrefix, readonly ObjectAction[]>>
  /** Ships `gateway.json`; only these functions are deployed after a change of the configuration. */
  readonly readsConfiguration?: true
  /** Signs video urls. */
  readonly signsUrls?: true
  /** Calls upstreams with the keys of the channel secret. */
  readonly callsUpstreams?: true
  /** Ships the vocabulary, to count tokens exactly. */
  readonly shipsTokenizer?: true
  /** Checks that its requests came through the front door. */
  readonly provesFrontDoor?: true
  /** Ships the OpenAPI document. */
  readonly shipsOpenapi?: true
}

/** Most of a CPU: the work is JSON and a few SDK calls, but a client waits. */
const API_MEMORY_MEGABYTES = 1024
/** Room for the largest replies that are held whole: 440 to 740 MB were measured. */
const RELAY_MEMORY_MEGABYTES = 1024
/** A chat holds 32 MiB at most, and mostly waits: the time that Lambda bills is the upstream's. */
const CHAT_MEMORY_MEGABYTES = 512
/** Of a function that reads one record a second, and now and then writes a comment. */
const EVENTS_MEMORY_MEGABYTES = 512

const api = { timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.api, memoryMegabytes: API_MEMORY_MEGABYTES }

/** Counts a request against the limit of its key. */
const counts = { actions: ['UpdateItem'], partitions: ['RL#*'] } as const satisfies TableAccess

/** Reads a key, the catalogue and the switches, and counts against the limit of the key. */
const catalogue = {
  ...api,
  table: [{ actions: ['GetItem'], partitions: ['K#*', 'SWITCHES'] }, counts],
  readsConfiguration: true,
} as const satisfies FunctionNeeds

/** Reserves, relays and settles. Without streaming, API Gateway gives up after 29 seconds, and the function continues to settle. */
const relay = {
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.relay,
  memoryMegabytes: RELAY_MEMORY_MEGABYTES,
  table: [
    { actions: ['GetItem'], partitions: ['K#*', 'SWITCHES'] },
    {
      actions: ['PutItem', 'UpdateItem', 'ConditionCheckItem'],
      partitions: ['BAL#*', 'BUDGET#*', 'K#*', 'L#*', 'RL#*', 'T#*', 'U#*'],
    },
  ],
  transacts: true,
  readsConfiguration: true,
  callsUpstreams: true,
} as const satisfies FunctionNeeds

/** What the relay server may do. Its size is fixed by Lambda. */
export type RelayServerNeeds = Pick<FunctionNeeds, 'table' | 'transacts' | 'callsUpstreams'>

/** The needs of the relay server: those of every relayed operation and of the models. */
export const RELAY_SERVER_NEEDS: RelayServerNeeds = relay

/** The needs of each API function. A new row of ROUTES does not compile without an entry. */
export const API_NEEDS: Readonly<Record<ApiFunction, FunctionNeeds>> = {
  'create-video-job': {
    ...api,
    table: [
      { actions: ['GetItem'], partitions: ['BAL#*', 'I#*', 'K#*', 'SWITCHES', 'T#*'] },
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
        partitions: ['BAL#*', 'BUDGET#*', 'I#*', 'K#*', 'L#*', 'RL#*', 'T#*'],
      },
    ],
    transacts: true,
    // A large request is stored before the reservation, and deleted if the reservation is refused.
    // For the 201, the function reads a submit reply that was too large for the record of the job.
    objects: { 'requests/': ['PutObject', 'DeleteObject'], 'texts/': ['GetObject'] },
    readsConfiguration: true,
  },
  'get-video-job': {
    ...api,
    table: [{ actions: ['BatchGetItem', 'GetItem'], partitions: ['K#*', 'T#*'] }, counts],
    objects: { 'texts/': ['GetObject'] },
    signsUrls: true,
  },
  'list-video-jobs': {
    ...api,
    table: [{ actions: ['GetItem'], partitions: ['K#*'] }, { actions: ['Query'], partitions: ['T#*'] }, counts],
    objects: { 'texts/': ['GetObject'] },
    signsUrls: true,
  },
  'delete-video-job': {
    ...api,
    table: [
      { actions: ['GetItem'], partitions: ['K#*', 'T#*'] },
      { actions: ['UpdateItem'], partitions: ['RL#*', 'T#*'] },
    ],
    transacts: true,
    objects: { 'v/': ['DeleteObject'], 'texts/': ['DeleteObject'] },
  },
  catalogue,
  'create-chat-completion': { ...relay, memoryMegabytes: CHAT_MEMORY_MEGABYTES },
  'create-completion': relay,
  'create-embedding': { ...relay, shipsTokenizer: true },
  'create-image': relay,
  // Balance, usage and receipts. One request reads the record of the key, its listing with its name, and the balance.
  account: {
    ...api,
    table: [
      { actions: ['BatchGetItem', 'GetItem'], partitions: ['BAL#*', 'BUDGET#*', 'K#*', 'KEYS', 'L#*'] },
      { actions: ['Query'], partitions: ['U#*'] },
      counts,
    ],
  },
  'get-video-events': {
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.relay,
    memoryMegabytes: EVENTS_MEMORY_MEGABYTES,
    table: [{ actions: ['BatchGetItem', 'GetItem'], partitions: ['K#*', 'T#*'] }, counts],
  },
  'create-video-quote': {
    ...api,
    table: [
      { actions: ['BatchGetItem', 'GetItem'], partitions: ['BAL#*', 'BUDGET#*', 'K#*', 'KEYS', 'SWITCHES'] },
      counts,
    ],
    readsConfiguration: true,
  },
  'cancel-video-job': {
    ...api,
    table: [
      { actions: ['GetItem'], partitions: ['K#*', 'T#*'] },
      { actions: ['UpdateItem'], partitions: ['RL#*', 'T#*'] },
    ],
    objects: { 'texts/': ['GetObject'] },
  },
  'resend-video-callback': {
    ...api,
    table: [
      { actions: ['GetItem'], partitions: ['K#*', 'T#*', 'TENANTS'] },
      { actions: ['UpdateItem'], partitions: ['RL#*', 'T#*'] },
    ],
    transacts: true,
    readsConfiguration: true,
    signsUrls: true,
  },
  public: { ...api, table: [], shipsOpenapi: true },
}

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
      { actions: ['GetItem'], partitions: ['CH#*', 'GT#*', 'SWITCHES', 'T#*'] },
      { actions: ['UpdateItem'], partitions: ['CH#*', 'T#*'] },
    ],
    transacts: true,
    objects: { 'requests/': ['GetObject'], 'texts/': ['PutObject'] },
    callsUpstreams: true,
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
      { actions: ['GetItem'], partitions: ['CH#*', 'GT#*', 'T#*'] },
      { actions: ['UpdateItem'], partitions: ['GT#*', 'T#*', 'UP#*'] },
    ],
    objects: { 'texts/': ['PutObject'] },
    callsUpstreams: true,
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
} as const satisfies Record<string, FunctionNeeds>

/** Name of a step, which is its folder below `lambdas/pipeline/`. */
export type StepName = keyof typeof STEP_NEEDS

/** The last task of the state machine. */
export const WEBHOOK_NEEDS: FunctionNeeds = {
  ...step,
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.webhook,
  table: [
    { actions: ['GetItem'], partitions: ['T#*', 'TENANTS'] },
    { actions: ['UpdateItem'], partitions: ['T#*'] },
  ],
  signsUrls: true,
}

/** Ends jobs without an execution and relayed requests without a function, and deletes their reservations. */
export const RECONCILE_NEEDS: FunctionNeeds = {
  ...step,
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.reconcile,
  ...resolution,
  table: [
    { actions: ['GetItem'], partitions: ['AL#*', 'BAL#*', 'BUDGET#*', 'CH#*', 'T#*', 'TENANTS'] },
    { actions: ['BatchGetItem'], partitions: ['BAL#*', 'BUDGET#*', 'T#*'] },
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
