/** The DynamoDB actions that can be granted. A transaction needs those of its parts. */
export type TableAction =
  | 'BatchGetItem'
  | 'ConditionCheckItem'
  | 'DeleteItem'
  | 'GetItem'
  | 'PutItem'
  | 'Query'
  | 'UpdateItem'

/**
 * Partitions in the policies of roles, from `table-keys.ts` and docs/architecture.md, "Table". Only admin commands and the console query `KEYS`,
 * the listings of keys.
 */
export type Partition =
  | 'ADMINKEYS'
  | 'AL#*'
  | 'AUDIT'
  | 'BAL#*'
  | 'BUDGET#*'
  | 'CH#*'
  | 'FAILURES'
  | 'GT#*'
  | 'I#*'
  | 'K#*'
  | 'KEYS'
  | 'L#*'
  | 'LINK#*'
  | 'NU#*'
  | 'RL#*'
  | 'SESSIONS'
  | 'SIGNIN#*'
  | 'SUMMARY'
  | 'SWITCHES'
  | 'T#*'
  | 'TENANTS'
  | 'U#*'
  | 'UP#*'

/** Actions on the table and their partitions. A function has no other access to the table. */
export type TableAccess = {
  readonly actions: readonly TableAction[]
  readonly partitions: readonly Partition[]
  /** A query may ask for these attributes alone, which it has to name, and for the keys. */
  readonly attributes?: readonly string[]
}

/** `v/` holds videos, `requests/` bodies, and `texts/` replies of upstreams that are too large for a table item. */
export type ObjectPrefix = 'v/' | 'requests/' | 'texts/'

/** The S3 actions that can be granted on objects. */
export type ObjectAction = 'AbortMultipartUpload' | 'DeleteObject' | 'GetObject' | 'PutObject'

/** The permissions, the files and the memory of a function; its role and its environment follow from them alone. */
export type FunctionNeeds = {
  /**
   * A transaction needs the actions of its parts, each in all partitions of the transaction: AWS does not document whether each
   * action is checked against the keys of all parts.
   */
  readonly table: readonly TableAccess[]
  /** Writes by transactions, in which AWS may not tell IAM the keys. */
  readonly transacts?: true
  readonly objects?: Partial<Record<ObjectPrefix, readonly ObjectAction[]>>
  /** Starts executions of video jobs. */
  readonly startsExecutions?: true
  /** Ships `gateway.json`; only these functions are deployed after a change of the configuration. */
  readonly readsConfiguration?: true
  /** Signs video urls. */
  readonly signsUrls?: true
  /** Calls the upstreams of these channels, with the keys of the channel secret or by its role. */
  readonly callsUpstreams?: 'relayed' | 'video'
  /** Ships the vocabulary, to count tokens exactly. */
  readonly shipsTokenizer?: true
  /** Verifies tokens of issuers, and makes keys of their subjects; only where the configuration has issuers. */
  readonly takesTokens?: true
  /** Ships this OpenAPI document. */
  readonly shipsOpenapi?: 'openapi.json' | 'admin-openapi.json'
  readonly memoryMegabytes: number
}
