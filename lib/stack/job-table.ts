import { RemovalPolicy } from 'aws-cdk-lib'
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Effect, Grant, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { Partition, TableAccess, TableAction } from '#routes/needs.ts'

const READS: readonly TableAction[] = ['BatchGetItem', 'GetItem', 'Query']

/** What would change an entry of the audit log, which is append only. */
const AUDIT_CHANGES: readonly TableAction[] = ['DeleteItem', 'UpdateItem']

/** Index of due items: open reservations and pending clean-ups. */
const DUE_INDEX = 'GSI1'

type JobTableProps = {
  readonly outlivesStack: boolean
  /** Protects against accidental deletion, and against deletion by CloudFormation after a failed creation of the stack. */
  readonly isProtected: boolean
  /** Name of an existing table, whose keys, index and protection remain unchanged. */
  readonly existing?: string | undefined
}

/** The single table: tenants, keys, jobs, reservations and the ledger. */
export class JobTable extends Construct {
  readonly name: string
  readonly #arn: string

  constructor(scope: Construct, id: string, { existing, ...props }: JobTableProps) {
    super(scope, id)
    const { tableName, tableArn } =
      existing === undefined ? this.#createTable(props) : TableV2.fromTableName(this, 'Existing', existing)
    this.name = tableName
    this.#arn = tableArn
  }

  #createTable({ outlivesStack, isProtected }: Omit<JobTableProps, 'existing'>): TableV2 {
    return new TableV2(this, 'Table', {
      partitionKey: { name: 'PK', type: AttributeType.STRING },
      sortKey: { name: 'SK', type: AttributeType.STRING },
      globalSecondaryIndexes: [
        {
          indexName: DUE_INDEX,
          partitionKey: { name: 'GSI1PK', type: AttributeType.STRING },
          sortKey: { name: 'GSI1SK', type: AttributeType.STRING },
          projectionType: ProjectionType.KEYS_ONLY,
        },
      ],
      billing: Billing.onDemand(),
      timeToLiveAttribute: 'ttl',
      encryption: TableEncryptionV2.dynamoOwnedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: isProtected,
      removalPolicy: outlivesStack ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    })
  }

  /**
   * Grants these actions on items of these partitions, but never a change of the audit log. AWS does not document whether IAM is told the keys
   * of a transaction, so the writes of a function that transacts are also granted without keys.
   */
  grant(
    grantee: IGrantable,
    { actions, partitions, attributes, transacts }: TableAccess & { readonly transacts: boolean },
  ): void {
    const needsKeys = (action: TableAction) => !transacts || READS.includes(action)
    const keysAreIn = { ...leadingKeysAreIn(partitions), ...attributesAreIn(attributes) }
    for (const [granted, conditions] of [
      [actions.filter(needsKeys), { ...keysAreIn, ...LEADING_KEYS_ARE_TOLD }],
      [actions.filter((action) => !needsKeys(action)), keysAreIn],
    ] as const) {
      if (granted.length > 0) {
        const names = granted.map((action) => `dynamodb:${action}`)
        Grant.addToPrincipal({ grantee, actions: names, resourceArns: [this.#arn], conditions })
      }
    }
    if (partitions.includes('AUDIT') && actions.some((action) => AUDIT_CHANGES.includes(action))) {
      this.#denyAuditChanges(grantee)
    }
  }

  /**
   * Denies requests whose keys are all of the audit log. A transaction that changes other items and adds an entry stays allowed, whether AWS
   * holds an action against the key of its part, against the keys of all parts, or against none: without the condition on their presence, no
   * keys would be all of the audit log.
   */
  #denyAuditChanges(grantee: IGrantable): void {
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions: AUDIT_CHANGES.map((action) => `dynamodb:${action}`),
        resources: [this.#arn],
        conditions: { ...leadingKeysAreIn(['AUDIT']), ...LEADING_KEYS_ARE_TOLD },
      }),
    )
  }

  /** Grants Query on the index of due items only. */
  grantDueQuery(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [`${this.#arn}/index/${DUE_INDEX}`],
    })
  }
}

/** `ForAllValues` is true of a request without keys (IAM, "Multivalued context keys"). */
const LEADING_KEYS_ARE_TOLD = { Null: { 'dynamodb:LeadingKeys': 'false' } }

/** A query that names no attributes asks for all of them, about which `ForAllValues` says nothing. */
function attributesAreIn(attributes: readonly string[] | undefined) {
  return attributes === undefined
    ? {}
    : {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['PK', 'SK', ...attributes] },
        StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
      }
}

function leadingKeysAreIn(partitions: readonly Partition[]) {
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions] } }
}
