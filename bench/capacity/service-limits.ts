import { PROFILE_DEFAULTS } from '../../lib/config/stage-settings.ts'

/**
 * What AWS and this gateway allow, per second unless named: the quotas that a new account of us-east-1 has (docs.aws.amazon.com:
 * Lambda, API Gateway, Step Functions and DynamoDB quotas pages). They differ by region and grow on request: look yours up in
 * Service Quotas and say so with `--limit name=value`.
 */
export const SERVICE_LIMITS = {
  /** Concurrent executions of one account and region; an account that is quite new has 10. */
  'lambda-concurrency': 1000,
  /** Instances that `prod` reserves for each step of a video job, which is the most that run at once too. */
  'step-concurrency': PROFILE_DEFAULTS.prod.pipelineReservedConcurrency,
  /** Token bucket of the account; 500 in small regions. */
  'state-transitions': 1500,
  /** Refill of the bucket of StartExecution; its burst is 1300. */
  'start-execution': 300,
  'open-executions': 1_000_000,
  'api-requests': 10_000,
  /** The stage's own throttle in `prod` (`throttleRate`); `dev` has 100. */
  'stage-throttle': 5000,
  /** What the web ACL lets one address send, `wafRatePerFiveMinutes`. A deployment without it has no such bound. */
  'address-rate': 10_000 / 300,
  /** Write units of an on-demand table until a higher quota is granted. */
  'table-writes': 40_000,
  'table-reads': 40_000,
  /**
   * Transactions on one item before conflicts cost more than their retries: 20 a second lose nothing worth naming, 40 lose one
   * in a thousand and a third of a second. A model with transactions of 10 to 20 ms, eight tries, full jitter.
   */
  'item-transactions': 20,
  /** The same for one usage counter: all settlements of a tenant, day, key, operation and model. */
  'counter-transactions': 20,
  /** The same for the hold of one process: its own requests of a tenant. */
  'hold-transactions': 20,
  /** Write units of one partition of the table: the jobs and the holds of a tenant. */
  'hold-partition-writes': 1000,
  /** The usage counters of a tenant. */
  'counter-partition-writes': 1000,
  /** The ledger of a tenant. */
  'ledger-partition-writes': 1000,
  /** Budgets and low marks that a run of Reconcile examines in its 45 s, a hundred to a read of 30 ms. */
  'alert-looks-a-minute': 100_000,
  /** Index partitions of open reservations (16), each with 1000 write units. */
  'open-index-writes': 16_000,
  /**
   * Jobs that one run of Reconcile postpones. A write costs the SDK about a millisecond of a whole vCPU, of which 512 MB have 0.29, and a run lasts
   * 45 s; a third of it is left for the keys and the list of 100,000 jobs, 2.1 s of CPU.
   */
  'reconcile-looks-a-minute': 8_000,
  /** Refill of the bucket of DescribeExecution; its burst is 300. */
  'describe-executions': 15,
  /** Refill of the bucket of ListExecutions, each of up to 1,000 executions; its burst is 200. */
  'list-executions': 5,
  /** Open jobs that the ten-minute recount reads in the 35 s that a run with 100,000 jobs leaves: 0.06 ms of CPU each, of the 0.29 vCPU of 512 MB. */
  'reconcile-recount-jobs': 150_000,
} as const

export type LimitName = keyof typeof SERVICE_LIMITS

/** What to do when a limit is near. */
export const REMEDIES: Readonly<Record<LimitName | 'upstream-polls', string>> = {
  'lambda-concurrency': 'raise the quota; Store and Create hold most of it',
  'step-concurrency':
    'raise `pipelineReservedConcurrency`, or set it to 0: the steps and Reconcile then share what the account has',
  'state-transitions': 'raise the quota; longer `poll.interval_seconds` save at most the three of each poll',
  'start-execution': 'raise the quota; Reconcile starts what was refused within a minute',
  'open-executions': 'a second region or account',
  'api-requests': 'raise the quota',
  'stage-throttle': 'raise `throttleRate`',
  'address-rate': 'raise `wafRatePerFiveMinutes`, or let clients ask less often: callbacks instead of polls',
  'table-writes': 'raise the quota; warm throughput before a launch',
  'table-reads': 'raise the quota',
  'item-transactions': 'spread jobs over tenants and channels; shards of the balance item (not built)',
  'counter-transactions': 'several keys; the balance of the tenant is the narrower limit',
  'hold-transactions': 'nothing: a process that serves many requests at once sends them in groups',
  'hold-partition-writes': 'several tenants',
  'counter-partition-writes': 'several tenants',
  'ledger-partition-writes': 'several tenants',
  'alert-looks-a-minute': 'alerts come a run later',
  'open-index-writes': 'more `OPEN_SHARDS`, deployed while no job is open',
  'reconcile-looks-a-minute': 'healthy jobs do not mind; a broken one is found a run later',
  'describe-executions': 'raise the quota; runs with more than 100 jobs list the running executions instead',
  'list-executions': 'raise the quota; without the list, a run asks about each job',
  'reconcile-recount-jobs': 'the recount is left out; counts stay exact unless somebody edits the table by hand',
  'upstream-polls': 'more accounts (channels), or a higher rate from the provider',
}
