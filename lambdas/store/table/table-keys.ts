/** Every key of the single table, one function per access pattern. */
export type TableKey = { readonly PK: string; readonly SK: string }

/** Identifies a job and its reservation. */
export type JobKey = { readonly tenantId: string; readonly jobId: string }

/** Open reservations are spread over this many index partitions. */
export const OPEN_SHARDS = 16

/** The key of each kind of item; docs/architecture.md ("Table") has them in one table. */
export const tableKeys = {
  /** One tenant's name and callback secret; all tenants in one query. */
  tenant: (tenantId: string): TableKey => ({ PK: 'TENANTS', SK: tenantId }),
  /** Money of a tenant. */
  balance: (tenantId: string): TableKey => ({ PK: `BAL#${tenantId}`, SK: '0' }),
  /** A tenant's jobs sort by creation, because their ids are UUIDs of version 7. */
  job: (tenantId: string, jobId: string): TableKey => ({ PK: `T#${tenantId}`, SK: `JOB#${jobId}` }),
  reservation: (tenantId: string, jobId: string): TableKey => ({ PK: `T#${tenantId}`, SK: `RESERVATION#${jobId}` }),
  /** What a process holds for relayed requests of a tenant; deleted by Reconcile when the process has not renewed it. */
  relayHold: (tenantId: string, holdId: string): TableKey => ({ PK: `T#${tenantId}`, SK: `PROC#${holdId}` }),
  /** A large request in the bucket without a reservation; deleted by its reservation. */
  announcedRequest: (tenantId: string, jobId: string): TableKey => ({ PK: `T#${tenantId}`, SK: `BODY#${jobId}` }),
  /** The ledger row of a reservation. */
  ledgerReserve: (tenantId: string, jobId: string): TableKey => ({ PK: `L#${tenantId}`, SK: `${jobId}#1` }),
  /** One key for settlement and release, so that no second resolution can exist. */
  ledgerResolution: (tenantId: string, jobId: string): TableKey => ({ PK: `L#${tenantId}`, SK: `${jobId}#2` }),
  ledgerGrant: (tenantId: string, grantId: string): TableKey => ({ PK: `L#${tenantId}`, SK: `grant#${grantId}` }),
  ledgerAdjustment: (tenantId: string, adjustmentId: string): TableKey => ({
    PK: `L#${tenantId}`,
    SK: `adjust#${adjustmentId}`,
  }),
  /** Sums of a tenant's settlements; the id begins with the day, so that a range of days is one range of sort keys. */
  usageCounter: (tenantId: string, counterId: string): TableKey => ({ PK: `U#${tenantId}`, SK: counterId }),
  /** How many users of a tenant were counted on a day, `yyyy-mm-dd`; with `#` and a name behind it, one of them. */
  namedUser: (tenantId: string, mark: string): TableKey => ({ PK: `NU#${tenantId}`, SK: mark }),
  /** Authentication: by the digest of the whole key. */
  apiKey: (digest: string): TableKey => ({ PK: `K#${digest}`, SK: '0' }),
  /** Listing and revocation: by the public id of the key. */
  apiKeyListing: (keyId: string): TableKey => ({ PK: 'KEYS', SK: keyId }),
  idempotency: (tenantId: string, digest: string): TableKey => ({ PK: `I#${tenantId}#${digest}`, SK: '0' }),
  /** Jobs that hold a slot of a channel. */
  channel: (channelId: string): TableKey => ({ PK: `CH#${channelId}`, SK: '0' }),
  /** Token bucket of a channel's polls. */
  pollBucket: (channelId: string): TableKey => ({ PK: `UP#${channelId}`, SK: '0' }),
  /** The budget of a key, which its successors share. */
  keyBudget: (budgetId: string): TableKey => ({ PK: `BUDGET#${budgetId}`, SK: '0' }),
  /** When the next request of a key may come, if the key has a rate. */
  requestRate: (keyId: string): TableKey => ({ PK: `RL#${keyId}`, SK: '0' }),
  /** The open event streams of a key. */
  eventStreams: (keyId: string): TableKey => ({ PK: `RL#${keyId}`, SK: 'STREAMS' }),
  /** Generation times of the jobs of one class; all classes of a channel in one query. */
  generationTimes: (channelId: string, className: string): TableKey => ({ PK: `GT#${channelId}`, SK: className }),
  /** Jobs of a tenant that failed in an hour, `yyyy-mm-ddThh` in UTC; those of all tenants in one query. */
  failedJobs: (hour: string, tenantId: string): TableKey => ({ PK: 'FAILURES', SK: `${hour}#${tenantId}` }),
  /** An entry of the audit log: all entries in one query, by time. */
  auditEntry: (position: string): TableKey => ({ PK: 'AUDIT', SK: position }),
  /** What operators switched, all in one item, so that one read finds every switch. */
  switches: (): TableKey => ({ PK: 'SWITCHES', SK: '0' }),
  /** Alerts of a tenant, by time. */
  alert: (tenantId: string, position: string): TableKey => ({ PK: `AL#${tenantId}`, SK: `ALERT#${position}` }),
  /** A session of the console; all sessions in one query. */
  session: (sessionId: string): TableKey => ({ PK: 'SESSIONS', SK: sessionId }),
  /** An admin key, by its public id; all of them in one query. */
  adminKey: (keyId: string): TableKey => ({ PK: 'ADMINKEYS', SK: keyId }),
  /** A one-time link of a local host, by the digest of its secret. */
  signInLink: (digest: string): TableKey => ({ PK: `LINK#${digest}`, SK: '0' }),
  /** Failed sign-ins of an address. */
  signInFailures: (address: string): TableKey => ({ PK: `SIGNIN#${address}`, SK: '0' }),
  /** What one key or one user of the console did in a minute. No address has a `#`. */
  holderRate: (action: string, holder: string): TableKey => ({ PK: `SIGNIN#${action}#${holder}`, SK: '0' }),
  /** What was last alerted about a budget or a balance. */
  alertMark: (tenantId: string, subject: string): TableKey => ({ PK: `AL#${tenantId}`, SK: `MARK#${subject}` }),
  /** What the pages of the console over all tenants show, in packed parts. */
  summary: (part: string): TableKey => ({ PK: 'SUMMARY', SK: part }),
} as const

/** Index partition of an open reservation. Any spread works, because readers query all partitions. */
export function openShard(id: string): string {
  // An id that does not end in hexadecimal digits needs a shard too, or its reservation would never be found. Without `abs`, an id
  // that ends in "-1" would have a shard that no reader queries.
  return `OPEN#${Math.abs(Number.parseInt(id.slice(-2), 16) || 0) % OPEN_SHARDS}`
}

/** Index partition of items that may have left objects in the bucket: deleted jobs, and requests without a reservation. */
export const CLEANUP_PARTITION = 'CLEANUP'

/** Index partition of budgets, and of balances with a budget or a low mark; their keys in the index never change. */
export const BUDGETS_PARTITION = 'BUDGETS'

/** Index partition of alerts that are not delivered. */
export const ALERTS_PARTITION = 'ALERTS'

/** Index partition of the holds of relayed requests. */
export const HOLDS_PARTITION = 'PROC'

/** Index sort key: milliseconds, padded so that the order of strings is the order of times. */
export function dueSortKey(atMilliseconds: number): string {
  return String(Math.trunc(atMilliseconds)).padStart(15, '0')
}

/** DynamoDB's bound of a sort key, in bytes of UTF-8. */
const SORT_KEY_BYTES_MAX = 1024

/** Whether an item can have this sort key. DynamoDB refuses even to read any other. */
export function isSortKey(text: string): boolean {
  return text !== '' && Buffer.byteLength(text) <= SORT_KEY_BYTES_MAX
}
