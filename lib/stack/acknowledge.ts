import { Stack, Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'

/** Accepts findings of the AwsSolutions rules on a construct and all below it. The reason is for the auditor. */
export function acknowledge(scope: IConstruct, reason: string, ...rules: readonly string[]): void {
  for (const rule of rules) {
    Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason })
  }
}

/** Accepts one ARN that ends in a wildcard, and no other. */
export function acknowledgeWildcard(scope: IConstruct, reason: string, resourceArn: string): void {
  acknowledge(scope, reason, `IAM5[Resource::${flatten(Stack.of(scope).resolve(resourceArn))}]`)
}

/** Writes a CloudFormation expression the way cdk-nag names it in a finding: `<Bucket.Arn>/v/*`. */
function flatten(expression: unknown): string {
  if (typeof expression === 'string') {
    return expression
  }
  const [kind, value] = Object.entries(expression ?? {})[0] ?? []
  if (kind === 'Ref') {
    return `<${value}>`
  }
  if (kind === 'Fn::Sub' && typeof value === 'string') {
    return value.replaceAll(/\$\{([\w:]+)\}/g, '<$1>')
  }
  if (kind === 'Fn::GetAtt' && Array.isArray(value)) {
    return `<${value.join('.')}>`
  }
  if (kind === 'Fn::Join' && Array.isArray(value) && Array.isArray(value[1])) {
    return value[1].map(flatten).join(value[0])
  }
  return JSON.stringify(expression)
}
