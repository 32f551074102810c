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

/** A visit of Poll that found no token: the record and the count of the channel, and two refused conditional writes. */
export const THROTTLED_UNITS: Units = { reads: 1.5, writes: 2 }

/** A look of Reconcile at one open job, beside its index queries. */
export const LOOK_UNITS: Units = { reads: 2, writes: 3 }

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
