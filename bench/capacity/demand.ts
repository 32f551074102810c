import {
  COUNTER_UNITS,
  DUE_KEY_UNITS,
  LOOK_UNITS,
  OPERATION_UNITS,
  PASSED_UNITS,
  THROTTLED_UNITS,
  type Units,
} from '../../test/engines/operation-units.ts'
import { type Assumptions, FUNCTION_SECONDS, storeSeconds } from './assumptions.ts'
import type { LimitName } from './service-limits.ts'
import type { FleetRates } from './simulate-fleet.ts'

/** States that every job enters once: Submit, AfterSubmit, Store, Settle, Notify, Done. */
const STATES_ONCE = 6
/** WaitForUpstream, Poll, AfterPoll. */
const STATES_PER_POLL = 3

/** Jobs that a run of Reconcile asks about one by one before it lists the running executions, and executions in one request. */
const ASKED_A_RUN = 100
const LISTED_AT_ONCE = 1000

/** Open jobs that Reconcile asks Step Functions about, that it postpones, and that are in its list; a second. */
function looksOf({ looks, lateLooks }: FleetRates, openJobs: number) {
  const asked = Math.min(looks, ASKED_A_RUN / 60)
  return looks > asked
    ? { asked, written: asked + lateLooks, listed: openJobs / 60 }
    : { asked, written: asked, listed: 0 }
}

type Shape = {
  readonly openJobs: number
  readonly tenants: number
  readonly accounts: number
  readonly assumptions: Assumptions
}

/** What a fleet asks of each service, in the unit of its limit. */
export function demandOf(rates: FleetRates, shape: Shape): Partial<Readonly<Record<LimitName, number>>> {
  const { openJobs, tenants, accounts, assumptions } = shape
  const { jobs, polls, throttled } = rates
  const { asked, written, listed } = looksOf(rates, openJobs)
  const visits = polls + throttled
  const gets = openJobs / assumptions.clientPollSeconds
  const table = tableUnits(rates, { gets, openJobs })
  const concurrency =
    jobs * (FUNCTION_SECONDS.create + FUNCTION_SECONDS.submit + FUNCTION_SECONDS.settle + FUNCTION_SECONDS.notify) +
    jobs * storeSeconds(assumptions) +
    visits * FUNCTION_SECONDS.poll +
    gets * FUNCTION_SECONDS.get
  return {
    'lambda-concurrency': concurrency,
    // Of the step that holds most.
    'step-concurrency': Math.max(jobs * storeSeconds(assumptions), visits * FUNCTION_SECONDS.poll),
    'state-transitions': jobs * STATES_ONCE + visits * STATES_PER_POLL,
    'start-execution': jobs,
    'open-executions': openJobs,
    'api-requests': jobs + gets,
    'stage-throttle': jobs + gets,
    // Each tenant has one backend behind one address.
    'address-rate': (jobs + gets) / tenants,
    'table-writes': table.writes,
    'table-reads': table.reads,
    // Each job changes the balance of its tenant twice, and the count of its channel twice.
    'item-transactions': (2 * jobs) / Math.min(tenants, accounts),
    // Each tenant settles by one key and model.
    'counter-transactions': jobs / tenants,
    'counter-partition-writes': (COUNTER_UNITS.writes * jobs) / tenants,
    'alert-looks-a-minute': assumptions.budgets,
    'open-index-writes': 2 * jobs + 2 * written,
    'reconcile-looks-a-minute': 60 * written,
    'describe-executions': asked,
    'list-executions': listed / LISTED_AT_ONCE,
    'reconcile-recount-jobs': openJobs,
  }
}

function tableUnits(rates: FleetRates, { gets, openJobs }: { gets: number; openJobs: number }): Units {
  const { jobs, polls, throttled } = rates
  const { asked, written, listed } = looksOf(rates, openJobs)
  const unfinished = Math.max(0, polls - jobs)
  const parts: [number, Units][] = [
    [jobs, OPERATION_UNITS.create],
    [jobs, OPERATION_UNITS.submit],
    [unfinished, OPERATION_UNITS['poll, changed']],
    [jobs, OPERATION_UNITS['poll, succeeded']],
    [throttled, THROTTLED_UNITS],
    [jobs, OPERATION_UNITS.store],
    [jobs, OPERATION_UNITS.settle],
    [jobs, OPERATION_UNITS.notify],
    [gets, OPERATION_UNITS.get],
    [asked, LOOK_UNITS],
    [written - asked, PASSED_UNITS],
    [listed, DUE_KEY_UNITS],
  ]
  return {
    reads: parts.reduce((sum, [rate, { reads }]) => sum + rate * reads, 0),
    writes: parts.reduce((sum, [rate, { writes }]) => sum + rate * writes, 0),
  }
}
