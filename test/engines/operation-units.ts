/** What one run of an operation asks of DynamoDB, in read units and write units (of index and table together). */
export type Units = { readonly reads: number; readonly writes: number }

/**
 * The units of the operations of a job and of a relayed request: the table "Costs per operation" of docs/operate.md, whose
 * lines `test/bench/operations.test.ts` counts on the wire, these with them.
 */
export const OPERATION_UNITS = {
  create: { reads: 2, writes: 11 },
  get: { reads: 2, writes: 0 },
  submit: { reads: 2.5, writes: 5 },
  'poll, changed': { reads: 1.5, writes: 2 },
  'poll, succeeded': { reads: 1, writes: 4 },
  store: { reads: 1, writes: 2 },
  settle: { reads: 3, writes: 15 },
  notify: { reads: 1.5, writes: 4 },
} as const satisfies Record<string, Units>

/** Deleting a stored video, counted in the same test. */
export const DELETE_UNITS: Units = { reads: 1, writes: 6 }

/** A look of Reconcile at one open job, beside its index queries. */
export const LOOK_UNITS: Units = { reads: 2, writes: 3 }

/** Reading the key of a job that is due: of a query of keys, about 200 bytes each. */
export const DUE_KEY_UNITS: Units = { reads: 0.025, writes: 0 }

/** Passing a job of five minutes or more whose execution is in the list of those that run: part of {@link LOOK_UNITS}. */
export const PASSED_UNITS: Units = { reads: 0, writes: 3 }

/** Reserving and settling a relayed request; its key is read once a minute by each instance. */
export const RELAYED_UNITS: Units = { reads: 0, writes: 14 }

/** Part of {@link RELAYED_UNITS} that each partition of a tenant takes: a request alone writes hold and balance twice. */
export const RELAYED_WRITES = { hold: 4, balance: 4, ledger: 2, counter: 2 } as const

/** A look of Reconcile at one budget, or at one balance with a low mark, beside its index query. */
export const WATCH_UNITS: Units = { reads: 1, writes: 0 }

/** The entry in the audit log of a command with an effect. */
export const AUDIT_UNITS: Units = { reads: 0, writes: 2 }

/** The counter that a settlement moves; part of the units of `settle` and of {@link RELAYED_UNITS}. */
export const COUNTER_UNITS: Units = { reads: 0, writes: 2 }

/** A run of Reconcile with nothing due, and the one in ten that recounts. */
export const RECONCILE_UNITS = {
  plain: { reads: 10, writes: 0 },
  withRecount: { reads: 19.5, writes: 0 },
} as const satisfies Record<string, Units>

/** What the summary of the console asks of the table in a minute. */
export type SummaryUnits = {
  readonly tenants: number
  /** While nobody spends anything. */
  readonly idle: Units
  /** While a tenth of the tenants spend something, each with ten usage counters a day. */
  readonly busy: Units
  /** Read units of a page over all tenants. */
  readonly page: number
}

/** A stage without tenants. */
export const EMPTY_SUMMARY_UNITS: Units = { reads: 6, writes: 1 }

/** Counted once with the meter of `startMeteredTable`, on 2026-11-22: no test repeats the count. */
export const SUMMARY_UNITS: readonly SummaryUnits[] = [
  { tenants: 10, idle: { reads: 16, writes: 1 }, busy: { reads: 17, writes: 4 }, page: 4 },
  { tenants: 100, idle: { reads: 110, writes: 1 }, busy: { reads: 120, writes: 9 }, page: 6 },
  { tenants: 1000, idle: { reads: 1047, writes: 1 }, busy: { reads: 1147, writes: 61 }, page: 27 },
]
