import { FUNCTION_TIMEOUT_SECONDS } from '../config/platform-facts.ts'
import type { FunctionNeeds } from './function-needs.ts'

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
