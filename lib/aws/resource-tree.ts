import type { IResource } from 'aws-cdk-lib/aws-apigateway'

/** A resource of an API and all resources below it. */
export function withDescendants(resource: IResource): IResource[] {
  return [resource, ...childrenOf(resource).flatMap(withDescendants)]
}

/** The resources one segment below. */
export function childrenOf(resource: IResource): IResource[] {
  return resource.node.children.filter(isResource)
}

/** Whether the last segment of the path is a parameter. */
export function isVariable({ path }: IResource): boolean {
  return path.endsWith('}')
}

function isResource(construct: object): construct is IResource {
  return 'resourceForPath' in construct
}
