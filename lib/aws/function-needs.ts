import type { Operation } from '#core/contract/routes.ts'
import type { TableAction } from './job-table.ts'
import type { ObjectAction, ObjectPrefix } from './video-bucket.ts'

/** What one function may reach, and how large it is: its role and its environment follow from this and nothing else. */
export type FunctionNeeds = {
  readonly timeoutSeconds: number
  readonly memoryMegabytes: number
  /** A transaction needs the actions of its parts. */
  readonly table: readonly TableAction[]
  /** Query on the index of what is due. */
  readonly dueIndex?: true
  readonly objects?: Partial<Record<ObjectPrefix, readonly ObjectAction[]>>
  /** Signs video urls. */
  readonly signsUrls?: true
  /** Takes deleted videos out of the CDN. */
  readonly invalidatesCdn?: true
  /** Sends the upstreams' keys. */
  readonly callsUpstreams?: true
}

/** API Gateway gives up at the same second, so a longer run could not answer anyone. */
export const API_TIMEOUT_SECONDS = 29
/** JSON and a few SDK calls, yet a client waits for it: most of a CPU. */
const API_MEMORY_MEGABYTES = 1024
/** Waits for an upstream or the table; nobody waits for it. */
const STEP_MEMORY_MEGABYTES = 512
/** A whole CPU and the network share that goes with it, to carry the largest video within the timeout. */
const STORE_MEMORY_MEGABYTES = 1769

const api = { timeoutSeconds: API_TIMEOUT_SECONDS, memoryMegabytes: API_MEMORY_MEGABYTES }

/** A new row of ROUTES does not compile until it says here what it needs. */
export const API_NEEDS: Readonly<Record<Operation | 'fallback', FunctionNeeds>> = {
  'create-video-job': {
    ...api,
    table: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
    // The 201 of a job whose submit answer was too large for its record reads that answer back.
    objects: { 'requests/': ['PutObject'], 'texts/': ['GetObject'] },
  },
  'get-video-job': { ...api, table: ['GetItem', 'Query'], objects: { 'texts/': ['GetObject'] }, signsUrls: true },
  'list-video-jobs': { ...api, table: ['GetItem', 'Query'], objects: { 'texts/': ['GetObject'] }, signsUrls: true },
  'delete-video-job': {
    ...api,
    table: ['GetItem', 'UpdateItem'],
    objects: { 'v/': ['DeleteObject'], 'texts/': ['GetObject'] },
    invalidatesCdn: true,
  },
  fallback: { ...api, table: [] },
}

const step = { memoryMegabytes: STEP_MEMORY_MEGABYTES, table: ['GetItem', 'PutItem', 'UpdateItem'] } as const

/** The tasks of the state machine. Each task's own TimeoutSeconds is ten seconds longer, so that a function ends first. */
export const STEP_NEEDS = {
  'submit-video-job': {
    ...step,
    timeoutSeconds: 40,
    objects: { 'requests/': ['GetObject'], 'texts/': ['PutObject'] },
    callsUpstreams: true,
  },
  'poll-video-job': { ...step, timeoutSeconds: 30, objects: { 'texts/': ['PutObject'] }, callsUpstreams: true },
  'store-video': {
    ...step,
    timeoutSeconds: 840,
    memoryMegabytes: STORE_MEMORY_MEGABYTES,
    objects: { 'texts/': ['GetObject'], 'v/': ['PutObject', 'AbortMultipartUpload', 'DeleteObject'] },
  },
  'settle-video-job': {
    ...step,
    timeoutSeconds: 30,
    objects: { 'v/': ['DeleteObject'], 'texts/': ['GetObject'] },
    invalidatesCdn: true,
  },
  'fail-video-job': {
    ...step,
    timeoutSeconds: 40,
    objects: { 'v/': ['DeleteObject'], 'texts/': ['GetObject'] },
    invalidatesCdn: true,
    callsUpstreams: true,
  },
} as const satisfies Record<string, FunctionNeeds>

export type StepName = keyof typeof STEP_NEEDS

/** The last task of the machine, in a folder of its own. */
export const WEBHOOK_NEEDS: FunctionNeeds = {
  timeoutSeconds: 30,
  memoryMegabytes: STEP_MEMORY_MEGABYTES,
  table: ['GetItem', 'UpdateItem'],
  signsUrls: true,
}

/** Ends before the next minute's run is due. */
export const RECONCILE_NEEDS: FunctionNeeds = {
  timeoutSeconds: 55,
  memoryMegabytes: STEP_MEMORY_MEGABYTES,
  table: ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'PutItem'],
  dueIndex: true,
  objects: { 'v/': ['DeleteObject'], 'texts/': ['GetObject'] },
  invalidatesCdn: true,
}
