import { RemovalPolicy } from 'aws-cdk-lib'
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'

/** The DynamoDB actions that a function may be given; a transaction needs those of its parts. */
export type TableAction =
  | 'BatchGetItem'
  | 'ConditionCheckItem'
  | 'DeleteItem'
  | 'GetItem'
  | 'PutItem'
  | 'Query'
  | 'UpdateItem'

/** Index over what is due: open reservations and pending clean-ups. */
const DUE_INDEX = 'GSI1'

/** The single table: tenants, keys, jobs, reservations and the ledger. Outlives the stack. */
export class JobTable extends Construct {
  readonly name: string
  readonly #table: TableV2

  constructor(scope: Construct, id: string) {
    super(scope, id)
    this.#table = new TableV2(this, 'Table', {
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
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    })
    this.name = this.#table.tableName
  }

  /** Exact actions on the table itself. */
  grant(grantee: IGrantable, actions: readonly TableAction[]): void {
    Grant.addToPrincipal({
      grantee,
      actions: actions.map((action) => `dynamodb:${action}`),
      resourceArns: [this.#table.tableArn],
    })
  }

  /** Query on the index alone. */
  grantDueQuery(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [`${this.#table.tableArn}/index/${DUE_INDEX}`],
    })
  }
}
