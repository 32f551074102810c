import { CfnResource, Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { ServiceLogGroup } from './service-log-group.ts'

/** CDK's name of the function that empties the buckets of a stack. */
const EMPTIER = 'Custom::S3AutoDeleteObjectsCustomResourceProvider'

/**
 * Gives CDK's function that empties buckets a log group of the stack and permission to write to it, instead of a managed policy and
 * a log group that Lambda would create and the stack would not delete.
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
