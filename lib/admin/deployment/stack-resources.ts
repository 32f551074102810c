import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation'
import { unreadableStack } from './unreadable-stack.ts'

/** One resource of the stack: its name in the template and its name in AWS (an arn, url or name, depending on its type). */
export type StackResource = { readonly type: string; readonly logicalId: string; readonly id: string }

/** Logical ids begin with the names of the enclosing constructs. */
export type ResourceMatch = { readonly type: string; readonly logicalIdPrefix: string }

/** Every resource of a stack. @throws DeploymentNotFoundError if the stack cannot be read. */
export async function readStackResources(stackName: string): Promise<readonly StackResource[]> {
  const resources: StackResource[] = []
  try {
    const client = new CloudFormationClient({})
    for await (const { StackResourceSummaries = [] } of paginateListStackResources(
      { client },
      { StackName: stackName },
    )) {
      for (const { ResourceType = '', LogicalResourceId = '', PhysicalResourceId = '' } of StackResourceSummaries) {
        resources.push({ type: ResourceType, logicalId: LogicalResourceId, id: PhysicalResourceId })
      }
    }
  } catch (error) {
    throw unreadableStack(`the resources of ${stackName}`, error)
  }
  return resources
}

/** The first resource of this type under these constructs. */
export function findResource(
  resources: readonly StackResource[],
  { type, logicalIdPrefix }: ResourceMatch,
): StackResource | undefined {
  return resources.find((resource) => resource.type === type && resource.logicalId.startsWith(logicalIdPrefix))
}
