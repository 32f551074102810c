import { CloudWatchLogsClient, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs'
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { paginateListBuckets, S3Client } from '@aws-sdk/client-s3'
import { paginateListSecrets, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { type Finding, fine, wrong } from '../health/finding.ts'

/** CloudFormation adds this tag to its resources. */
const STACK_TAG = 'aws:cloudformation:stack-name'

/** The page about the remains of a removed or failed stack. */
const REMOVING = 'docs/deploy.md, "Removing"'

/** Tables of an earlier stack of this name. @param used the table in the settings. */
export async function checkTables(stackName: string, used: string | undefined): Promise<Finding[]> {
  const found: string[] = []
  for await (const { TableNames = [] } of paginateListTables({ client: new DynamoDBClient({}) }, {})) {
    found.push(...TableNames.filter((name) => name.startsWith(`${stackName}-JobTable`) && name !== used))
  }
  const advice = (name: string) =>
    `Reuse it with -c table=${name}, or delete it (${REMOVING}): a new stack starts with an empty table.`
  return findingsOf('table', found, advice)
}

/** Buckets of an earlier stack of this name, which CloudFormation writes in lower case. */
export async function checkBuckets(stackName: string): Promise<Finding[]> {
  const Prefix = `${stackName}-VideoBucket`.toLowerCase()
  const found: string[] = []
  for await (const { Buckets = [] } of paginateListBuckets({ client: new S3Client({}) }, { Prefix })) {
    found.push(...Buckets.flatMap(({ Name = '' }) => (Name.startsWith(Prefix) ? [Name] : [])))
  }
  return findingsOf('bucket', found, () => `A new stack does not use it: delete it (${REMOVING}).`)
}

/** Secrets of an earlier stack of this name, found by CloudFormation's tag, because their names do not begin with the stack's. */
export async function checkSecrets(stackName: string): Promise<Finding[]> {
  const Filters = [
    { Key: 'tag-key' as const, Values: [STACK_TAG] },
    { Key: 'tag-value' as const, Values: [stackName] },
  ]
  const found: string[] = []
  for await (const { SecretList = [] } of paginateListSecrets({ client: new SecretsManagerClient({}) }, { Filters })) {
    for (const { Name = '', Tags = [] } of SecretList) {
      // The filter matches by prefix.
      if (Tags.some(({ Key, Value }) => Key === STACK_TAG && Value === stackName)) {
        found.push(Name)
      }
    }
  }
  return findingsOf(
    'secret',
    found,
    () => `A new stack creates its own: copy the values that you need, then delete it (${REMOVING}).`,
  )
}

/** Log groups of an earlier stack of this name. They do no harm. */
export async function checkLogGroups(stackName: string): Promise<Finding[]> {
  // `Reelgate-prod-eu-...` belongs to another stage: in this one, a capital follows the stack's name.
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
      ? fine('log groups', 'none of an earlier stack')
      : fine('log groups', `${count} of an earlier stack, which do no harm; ${REMOVING}, says how to delete them`),
  ]
}

function findingsOf(kind: string, names: readonly string[], advice: (name: string) => string): Finding[] {
  return names.length === 0
    ? [fine(`${kind}s`, 'none of an earlier stack')]
    : names.map((name) => wrong(`${kind}s`, `the ${kind} ${name} of an earlier stack exists`, advice(name)))
}
