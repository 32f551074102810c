import { CfnResource, Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { ServiceLogGroup } from './service-log-group.ts'

/** CDK's name for the one function of a stack that empties buckets. */
const EMPTIER = 'Custom::S3AutoDeleteObjectsCustomResourceProvider'

/**
 * Gives CDK's function that empties buckets at the end of the stack a log group of the stack and the right to write
 * there, instead of a managed policy and a log group that Lambda would make and nobody delete.
 */
export function tidyBucketEmptier(scope: Construct): void {
  const provider = Stack.of(scope).node.findChild(EMPTIER)
  const [role, handler] = [provider.node.findChild('Role'), provider.node.findChild('Handler')]
  if (!(CfnResource.isCfnResource(role) && CfnResource.isCfnResource(handler))) {
    throw new TypeError(`${EMPTIER} is not built as expected: has the CDK changed?`)
  }
  const logGroup = new ServiceLogGroup(scope, 'EmptierLog')
  handler.addPropertyOverride('LoggingConfig', { LogGroup: logGroup.logGroupName })
  handler.addPropertyOverride('Description', 'Reelgate: empties the bucket when the stack ends')
  role.addPropertyDeletionOverride('ManagedPolicyArns')
  role.addPropertyOverride('Policies', [
    {
      PolicyName: 'WriteLog',
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
            Resource: logGroup.logGroupArn,
          },
        ],
      },
    },
  ])
}
