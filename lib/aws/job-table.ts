import { RemovalPolicy } from 'aws-cdk-lib'
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'

/** The DynamoDB actions that a function may be given; a transaction needs those of its parts. */
type TableAction = 'BatchGetItem' | 'ConditionCheckItem' | 'DeleteItem' | 'GetItem' | 'PutItem' | 'Query' | 'UpdateItem'

/**
 * Partitions as a role names them, after `table-keys.ts` and docs/architecture.md, "Table". What the listings of keys lie in (`KEYS`)
 * is for the admin commands alone.
 */
type Partition = 'BAL#*' | 'CH#*' | 'GT#*' | 'I#*' | 'K#*' | 'L#*' | 'RL#*' | 'T#*' | 'TENANTS' | 'UP#*'

/** What a function may do, and in which partitions; it has nothing else of the table. */
export type TableAccess = { readonly actions: readonly TableAction[]; readonly partitions: readonly Partition[] }

/** Index of due items: open reservations and pending clean-ups. */
const DUE_INDEX = 'GSI1'

type JobTableProps = {
  readonly outlivesStack: boolean
  /** Protects against deletion by mistake, and by CloudFormation when the creation of the stack fails. */
  readonly isProtected: boolean
  /** Name of a table that is there already; its keys, index and protection are its own. */
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

  /** Exact actions on items of these partitions. */
  grant(grantee: IGrantable, { actions, partitions }: TableAccess): void {
    Grant.addToPrincipal({
      grantee,
      actions: actions.map((action) => `dynamodb:${action}`),
      resourceArns: [this.#arn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions] } },
    })
  }

  /** Query on the index alone. */
  grantDueQuery(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [`${this.#arn}/index/${DUE_INDEX}`],
    })
  }
}
