import { RESERVED_IN_PROD } from '../../lib/config/context-settings.ts'

/** What a deployment's figures depend on and this repository cannot measure: numbers above 0, each an option of `npm run capacity`. */
export const ASSUMPTIONS = {
  tenants: 20,
  /** Polls that one upstream account takes. */
  requestsPerSecond: 15,
  /** Generation times: lognormal. Seconds. */
  median: 90,
  p95: 240,
  /** How often a client asks for its job while it is open. Seconds. */
  clientPollSeconds: 10,
  /** Size of one video. Megabytes of 1,000,000 bytes. */
  videoMegabytes: 8,
  /** How often each video is fetched from the CDN. */
  downloads: 2,
  /** From the first byte of a relayed request to the last of its response, of the chats whose limits are shown. */
  chatSeconds: 4,
  /**
   * CPU time of a relayed request beside its events, on a whole vCPU: in a function, which serves few requests before it ends
   * (docs/performance.md, "Memory of the relay functions"), and in a process that serves many ("Relay" there).
   */
  functionCpuMilliseconds: 5.4,
  requestCpuMilliseconds: 0.8,
  /** CPU time of each event of a stream ("Relay" there). */
  eventCpuMilliseconds: 0.06,
  eventsPerSecond: 50,
  eventBytes: 250,
  /** Times Lambda's prices of a vCPU and of a request that those of a Web Function may be; its rates are not published. */
  webRateFactor: 10,
  /** Budgets of keys and tenants, and balances with a low mark. */
  budgets: 100,
  /** Commands of operators with an effect, a month. */
  commands: 1000,
}

export type Assumptions = Readonly<typeof ASSUMPTIONS>

/** How long each function works on one call, in seconds: the upstream's pace where it waits for one, a warm instance elsewhere. */
export const FUNCTION_SECONDS = {
  /** Waits for the reply to the submit. */
  create: 1,
  get: 0.03,
  delete: 0.06,
  submit: 0.8,
  poll: 0.2,
  settle: 0.08,
  notify: 0.3,
  /** With nothing due. */
  reconcile: 0.45,
} as const

/** A video passes through Store at 20 megabytes a second, and takes half a second beside it. */
export function storeSeconds({ videoMegabytes }: Assumptions): number {
  return 0.5 + videoMegabytes / 20
}

type Limit = readonly [allowed: number, remedy: string]

/**
 * What AWS and this gateway allow, per second unless named, and what to do when a limit is near: the quotas that a new account of us-east-1
 * has (docs.aws.amazon.com: Lambda, API Gateway, Step Functions and DynamoDB quotas pages). They differ by region and grow on request: look
 * yours up in Service Quotas and say so with `--limit name=value`.
 */
export const LIMITS = {
  // Concurrent executions of one account and region; an account that is quite new has 10.
  'lambda-concurrency': [1000, 'raise the quota; Store and Create hold most of it'],
  // Instances that `prod` reserves for each step of a video job, which is the most that run at once too.
  'step-concurrency': [
    RESERVED_IN_PROD,
    'raise `pipelineReservedConcurrency`, or set it to 0: the steps and Reconcile then share what the account has',
  ],
  // Token bucket of the account; 500 in small regions.
  'state-transitions': [1500, 'raise the quota; longer `poll.interval_seconds` save at most the three of each poll'],
  // Refill of the bucket of StartExecution; its burst is 1300.
  'start-execution': [300, 'raise the quota; Reconcile starts what was refused within a minute'],
  'open-executions': [1_000_000, 'a second region or account'],
  'api-requests': [10_000, 'raise the quota'],
  // The stage's own throttle in `prod` (`throttleRate`); `dev` has 100.
  'stage-throttle': [5000, 'raise `throttleRate`'],
  // What the web ACL lets one address send, `wafRatePerFiveMinutes`. A deployment without it has no such bound.
  'address-rate': [
    10_000 / 300,
    'raise `wafRatePerFiveMinutes`, or let clients ask less often: callbacks instead of polls',
  ],
  // Units of an on-demand table until a higher quota is granted.
  'table-writes': [40_000, 'raise the quota; warm throughput before a launch'],
  'table-reads': [40_000, 'raise the quota'],
  // Transactions on one item before conflicts cost more than their retries: 20 a second lose nothing worth naming, 40 lose one in a thousand
  // and a third of a second. A model with transactions of 10 to 20 ms, eight tries, full jitter.
  'item-transactions': [20, 'spread jobs over tenants and channels; shards of the balance item (not built)'],
  // The same for one usage counter: all settlements of a tenant, day, key, operation and model.
  'counter-transactions': [20, 'several keys; the balance of the tenant is the narrower limit'],
  // The same for the hold of one process: its own requests of a tenant.
  'hold-transactions': [20, 'nothing: a process that serves many requests at once sends them in groups'],
  // Write units of one partition of the table: the jobs and the holds of a tenant, its usage counters, its ledger.
  'hold-partition-writes': [1000, 'several tenants'],
  'counter-partition-writes': [1000, 'several tenants'],
  'ledger-partition-writes': [1000, 'several tenants'],
  // Budgets and low marks that a run of Reconcile examines in its 45 s, a hundred to a read of 30 ms.
  'alert-looks-a-minute': [100_000, 'alerts come a run later'],
  // Index partitions of open reservations (16), each with 1000 write units.
  'open-index-writes': [16_000, 'more `OPEN_SHARDS`, deployed while no job is open'],
  // Jobs that one run of Reconcile postpones. A write costs the SDK about a millisecond of a whole vCPU, of which 512 MB have 0.29, and a run
  // lasts 45 s; a third of it is left for the keys and the list of 100,000 jobs, 2.1 s of CPU.
  'reconcile-looks-a-minute': [8_000, 'healthy jobs do not mind; a broken one is found a run later'],
  // Refill of the bucket of DescribeExecution; its burst is 300.
  'describe-executions': [15, 'raise the quota; runs with more than 100 jobs list the running executions instead'],
  // Refill of the bucket of ListExecutions, each of up to 1,000 executions; its burst is 200.
  'list-executions': [5, 'raise the quota; without the list, a run asks about each job'],
  // Open jobs that the ten-minute recount reads in the 35 s that a run with 100,000 jobs leaves: 0.06 ms of CPU each, of the 0.29 vCPU of 512 MB.
  'reconcile-recount-jobs': [
    150_000,
    'the recount is left out; counts stay exact unless somebody edits the table by hand',
  ],
} as const satisfies Readonly<Record<string, Limit>>

export type LimitName = keyof typeof LIMITS
