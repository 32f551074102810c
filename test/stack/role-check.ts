import type { Template } from 'aws-cdk-lib/assertions'
import { folderOf, resourcesOf } from './synthesize-stack.ts'

type Statement = {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

/** What a statement of a role allows in the table itself. */
export type TableGrant = {
  readonly actions: readonly string[]
  /** As the condition on the leading keys names them; undefined for one that covers the whole table. */
  readonly partitions: readonly string[] | undefined
  /** What a read may ask for and has to name; undefined for every attribute. */
  readonly attributes?: readonly string[] | undefined
  /** Whether the statement holds also for a request without leading keys, about which `ForAllValues` says nothing. */
  readonly holdsWithoutKeys: boolean
}

/** What a role allows in the table itself, by the folder of its function. */
export function tableGrants(template: Template): Map<string, TableGrant[]> {
  return tableStatements(template, 'Allow')
}

/** What a role denies in the table itself, by the folder of its function. */
export function tableDenials(template: Template): Map<string, TableGrant[]> {
  return tableStatements(template, 'Deny')
}

function tableStatements(template: Template, effect: 'Allow' | 'Deny'): Map<string, TableGrant[]> {
  const policies = resourcesOf(template, 'AWS::IAM::Policy')
  return new Map(
    resourcesOf(template, 'AWS::Lambda::Function').map(({ properties }) => {
      const roleId = properties.Role['Fn::GetAtt'][0]
      const statements: Statement[] = policies
        .filter((policy) => policy.properties.Roles.some((role: { Ref: string }) => role.Ref === roleId))
        .flatMap((policy) => policy.properties.PolicyDocument.Statement)
      return [folderOf(properties), statements.filter(({ Effect }) => Effect === effect).flatMap(tableGrant)]
    }),
  )
}

function tableGrant({ Action, Resource, Condition }: Statement): TableGrant[] {
  const actions = [Action].flat().filter((action) => action.startsWith('dynamodb:'))
  if (actions.length === 0 || JSON.stringify(Resource).includes('/index/')) {
    return []
  }
  const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']
  const attributes = [Condition?.['ForAllValues:StringEquals']?.['dynamodb:Attributes'] ?? []].flat()
  const isAbsent = Condition?.Null?.['dynamodb:LeadingKeys']
  return [
    {
      actions: actions.map((action) => action.slice('dynamodb:'.length)),
      partitions: keys === undefined ? undefined : [keys].flat(),
      attributes: Condition?.StringEquals?.['dynamodb:Select'] === 'SPECIFIC_ATTRIBUTES' ? attributes : undefined,
      holdsWithoutKeys: isAbsent !== 'false',
    },
  ]
}

/** One action of a request, with the partition keys that IAM is told: none, or those that the request names. */
export type TableUse = { readonly action: string; readonly keys: readonly string[] }

const PARTS = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
} as const

/**
 * What IAM is asked for a request to the table. A transaction is asked for in three readings, because AWS does not document which is true:
 * each action with its own key, each action with the keys of all parts, and each action without any key.
 */
export function usesOf(operation: string, input: Readonly<Record<string, unknown>>): TableUse[] {
  const wire = JSON.parse(JSON.stringify(input))
  if (operation === 'TransactWriteItems') {
    const parts: TableUse[] = wire.TransactItems.map((item: Record<string, Wire>) => partUse(item))
    const keys = parts.flatMap((part) => part.keys)
    return [...parts, ...parts.map(({ action }) => ({ action, keys })), ...parts.map(withoutKeys)]
  }
  if (operation === 'BatchGetItem') {
    const [requested] = Object.values<{ Keys: Wire['Key'][] }>(wire.RequestItems)
    return [{ action: operation, keys: (requested?.Keys ?? []).map((key) => key?.PK.S ?? '') }]
  }
  if (operation === 'Query') {
    return wire.IndexName === undefined ? [{ action: operation, keys: [wire.ExpressionAttributeValues[':pk'].S] }] : []
  }
  return [{ action: operation, keys: [(wire.Key ?? wire.Item).PK.S] }]
}

type Wire = {
  readonly Key?: { readonly PK: { readonly S: string } }
  readonly Item?: { readonly PK: { readonly S: string } }
}

function partUse(item: Record<string, Wire>): TableUse {
  const [[kind, part] = ['', undefined]] = Object.entries(item)
  const action = Object.entries(PARTS).find(([name]) => name === kind)?.[1] ?? kind
  return { action, keys: [(part?.Key ?? part?.Item)?.PK.S ?? ''] }
}

/** The third reading of an action in a transaction. */
export function withoutKeys({ action }: Pick<TableUse, 'action'>): TableUse {
  return { action, keys: [] }
}

/** As IAM decides: one statement has to allow the action in all of the keys, and none may deny the action in all of them. */
export function isAllowed(grants: readonly TableGrant[], use: TableUse, denials: readonly TableGrant[] = []): boolean {
  return covers(grants, use) && !covers(denials, use)
}

function covers(statements: readonly TableGrant[], { action, keys }: TableUse): boolean {
  return statements.some(
    ({ actions, partitions, holdsWithoutKeys }) =>
      actions.includes(action) &&
      (holdsWithoutKeys || keys.length > 0) &&
      keys.every((key) => partitions?.some((pattern) => isLike(key, pattern)) ?? true),
  )
}

/** `StringLike` with stars. */
function isLike(text: string, pattern: string): boolean {
  const escaped = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`).test(text)
}
