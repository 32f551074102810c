import { DUE_INDEX, type Expressions, type ItemUpdate, type TableQuery } from './table.ts'
import { dueSortKey, type TableKey } from './table-keys.ts'

/** The query of the items in a key's partition whose sort keys begin with that of the key, strongly consistent. */
export function beginningWith({ PK, SK }: TableKey) {
  return {
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': PK, ':sk': SK },
    ConsistentRead: true,
  } as const satisfies TableQuery
}

/** The query of the items in a partition of the index that are due by a time. The index lags behind the table by moments. */
export function dueBy(partition: string, milliseconds: number): TableQuery {
  return {
    IndexName: DUE_INDEX,
    KeyConditionExpression: 'GSI1PK = :partition AND GSI1SK <= :now',
    ExpressionAttributeValues: { ':partition': partition, ':now': dueSortKey(milliseconds) },
  }
}

/** A clause of a condition, with the values that it names if there are any. */
export type Clause = string | { readonly condition: string; readonly values: Readonly<Record<string, unknown>> }

/** The clause that an attribute has not changed since this was read of it; undefined for no such attribute. */
export function isStill(attribute: string, read: unknown): Exclude<Clause, string> {
  return read === undefined
    ? { condition: `attribute_not_exists(${attribute})`, values: {} }
    : { condition: `#${attribute} = :was_${attribute}`, values: { [`:was_${attribute}`]: read } }
}

/**
 * The condition that all clauses hold. In clauses, `#state` is the attribute `state`.
 * @param values that clauses name without having them.
 */
export function allOf(clauses: readonly Clause[], values: Readonly<Record<string, unknown>> = {}) {
  const ConditionExpression = clauses
    .map((clause) => (typeof clause === 'string' ? clause : clause.condition))
    .join(' AND ')
  const own = clauses.map((clause) => (typeof clause === 'string' ? {} : clause.values))
  return { ConditionExpression, ...expressions(ConditionExpression, Object.assign({}, values, ...own)) }
}

/** How an update changes attributes, by their names. Undefined values leave an attribute as it is. */
export type Change = {
  readonly set?: Readonly<Record<string, unknown>>
  /** Set only where the item has no such attribute. */
  readonly setOnce?: Readonly<Record<string, unknown>>
  /** What is added to numbers, which begin with zero. */
  readonly add?: Readonly<Record<string, number | bigint>>
  readonly remove?: readonly string[]
}

/** The update that changes an item if all clauses hold. */
export function change(
  Key: TableKey,
  { set = {}, setOnce = {}, add = {}, remove = [] }: Change,
  clauses: readonly Clause[] = [],
): ItemUpdate {
  const present = (values: object) => Object.keys(values).filter((name) => Object(values)[name] !== undefined)
  const sets = [
    ...present(set).map((name) => `#${name} = :${name}`),
    ...present(setOnce).map((name) => `#${name} = if_not_exists(#${name}, :${name})`),
  ]
  const parts = {
    SET: sets,
    REMOVE: remove.map((name) => `#${name}`),
    ADD: present(add).map((name) => `#${name} :${name}`),
  }
  const UpdateExpression = Object.entries(parts)
    .flatMap(([word, texts]) => (texts.length === 0 ? [] : [`${word} ${texts.join(', ')}`]))
    .join(' ')
  const { ConditionExpression, ExpressionAttributeValues } = allOf(clauses)
  const values = Object.entries({ ...set, ...setOnce, ...add }).map(([name, value]) => [`:${name}`, value])
  return {
    Key,
    UpdateExpression,
    ...(clauses.length === 0 ? {} : { ConditionExpression }),
    ...expressions(`${UpdateExpression} ${ConditionExpression}`, {
      ...ExpressionAttributeValues,
      ...Object.fromEntries(values),
    }),
  }
}

/** The names and the values of expressions. The table refuses empty sets of them. */
function expressions(text: string, values: Readonly<Record<string, unknown>>): Expressions {
  const names = Array.from(text.matchAll(/#(\w+)/g), ([placeholder, name = '']) => [placeholder, name] as const)
  const present = Object.entries(values).filter(([, value]) => value !== undefined)
  return {
    ...(names.length === 0 ? {} : { ExpressionAttributeNames: Object.fromEntries(names) }),
    ...(present.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(present) }),
  }
}
