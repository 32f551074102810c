import type { Template } from 'aws-cdk-lib/assertions'
import { expect } from 'vitest'
import { resourcesOf, stageSettings, synthesizeStack } from './synthesize-stack.ts'

/** Production with relayed requests on a Web Function. */
export const WEB = {
  console: 'on',
  relay: 'web',
  frontDoorWebAclArn: 'arn:aws:wafv2:us-east-1:111111111111:global/webacl/viewers/0198b3a0-0000-7000-8000-000000000001',
} as const

/** The template of production with relayed requests on a Web Function. */
export function synthesizeRelay(context: Readonly<Record<string, string>> = {}): Template {
  return synthesizeStack({ settings: stageSettings({ ...WEB, ...context }) })
}

/** The one resource of the relay with this type, and a name that begins so. */
export function relayResource(of: Template, type: string, begin = '') {
  const ids = resourcesOf(of, type).flatMap(({ id }) => (id.startsWith(`Relay${begin}`) ? [id] : []))
  expect(ids).toHaveLength(1)
  const [id = ''] = ids
  const { Properties: properties, ...rest } = of.toJSON().Resources[id]
  return { id, properties, ...rest }
}

/** What a role of the relay may do. */
export function relayStatements(of: Template, begin: string): Record<string, unknown>[] {
  return relayResource(of, 'AWS::IAM::Policy', begin).properties.PolicyDocument.Statement
}
