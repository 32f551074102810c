import { Aws } from 'aws-cdk-lib'

/** Names of CloudFront are unique in an account across all regions, and have at most 64 characters. */
export function accountWide(name: string): string {
  return `${Aws.STACK_NAME}-${name}-${Aws.REGION}`
}
