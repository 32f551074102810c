import { CloudWatchLogsClient, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs'
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { paginateListBuckets, S3Client } from '@aws-sdk/client-s3'
import { paginateListSecrets, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { type Finding, fine, wrong } from '../health/finding.ts'

/** CloudFormation writes it on what it makes. */
const STACK_TAG = 'aws:cloudformation:stack-name'

/** Where the data of a removed or failed stack of the same name may still be. */
const REMOVING = 'docs/deploy.md, "Removing"'

/** Tables of an earlier stack of this name. @param used the one that the settings take up. */
export async function checkTables(stackName: string, used: string | undefined): Promise<Finding[]> {
  const found: string[] = []
  for await (const { TableNames = [] } of paginateListTables({ client: new DynamoDBClient({}) }, {})) {
    found.push(...TableNames.filter((name) => name.startsWith(`${stackName}-JobTable`) && name !== used))
  }
  const advice = (name: string) =>
    `Take it up with -c table=${name}, or delete it (${REMOVING}): a new stack begins with an empty table.`
  return findingsOf('table', found, advice)
}

/** Buckets of an earlier stack of this name; CloudFormation writes their names small. */
export async function checkBuckets(stackName: string): Promise<Finding[]> {
  const Prefix = `${stackName}-VideoBucket`.toLowerCase()
  const found: string[] = []
  for await (const { Buckets = [] } of paginateListBuckets({ client: new S3Client({}) }, { Prefix })) {
    found.push(...Buckets.flatMap(({ Name = '' }) => (Name.startsWith(Prefix) ? [Name] : [])))
  }
  return findingsOf('bucket', found, () => `A new stack does not use it: delete it (${REMOVING}).`)
}

/** Secrets of an earlier stack of this name, by the tag of CloudFormation: their names do not begin with the stack's. */
export async function checkSecrets(stackName: string): Promise<Finding[]> {
  const Filters = [
    { Key: 'tag-key' as const, Values: [STACK_TAG] },
    { Key: 'tag-value' as const, Values: [stackName] },
  ]
  const found: string[] = []
  for await (const { SecretList = [] } of paginateListSecrets({ client: new SecretsManagerClient({}) }, { Filters })) {
    for (const { Name = '', Tags = [] } of SecretList) {
      // The filter also takes values that begin so.
      if (Tags.some(({ Key, Value }) => Key === STACK_TAG && Value === stackName)) {
        found.push(Name)
      }
    }
  }
  return findingsOf(
    'secret',
    found,
    () => `A new stack makes its own: copy what you need, then delete it (${REMOVING}).`,
  )
}

/** Log groups of an earlier stack of this name. They are in nobody's way. */
export async function checkLogGroups(stackName: string): Promise<Finding[]> {
  // `Reelgate-prod-eu-...` is of another stage: what follows the stack's name begins with a capital.
  const own = new RegExp(`^${stackName}-[A-Z]`)
  let count = 0
  const client = new CloudWatchLogsClient({})
  for await (const { logGroups = [] } of paginateDescribeLogGroups(
    { client },
    { logGroupNamePrefix: `${stackName}-` },
  )) {
    count += logGroups.filter(({ logGroupName = '' }) => own.test(logGroupName)).length
  }
  return [
    count === 0
      ? fine('log groups', 'none is left of an earlier stack')
      : fine('log groups', `${count} of an earlier stack are there and in nobody's way; ${REMOVING}, deletes them`),
  ]
}

function findingsOf(kind: string, names: readonly string[], advice: (name: string) => string): Finding[] {
  return names.length === 0
    ? [fine(`${kind}s`, 'none is left of an earlier stack')]
    : names.map((name) => wrong(`${kind}s`, `the ${kind} ${name} of an earlier stack is there`, advice(name)))
}
