import * as z from 'zod/mini'
import type { NamedWrites } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/**
 * A short-lived key of the playground, as its parent remembers it: the listing of the API key that signed in, or the record of the tenant
 * that an owner chose. It has no listing of its own, so lists of keys stay short, and every change of the parent finds it.
 */
export type PlaygroundKey = {
  readonly digest: string
  /** The session of the console that made the key. */
  readonly sessionId: string
  /** Unix seconds. */
  readonly expiresAt: number
}

/** The playground keys of a parent. `revision` is raised when one is made, so that a change of the parent cannot miss one. */
export type PlaygroundKeys = { readonly keys: readonly PlaygroundKey[]; readonly revision: number | undefined }

const parentItem = z.object({
  playgroundKeys: z._default(
    z.array(z.object({ digest: z.string(), sessionId: z.string(), expiresAt: z.number() })),
    [],
  ),
  playgroundRevision: z.optional(z.number()),
})

/** Reads the playground keys of a parent. @throws ZodError for an item that this service did not write. */
export function readPlaygroundKeys(parent: unknown): PlaygroundKeys {
  const { playgroundKeys: keys, playgroundRevision: revision } = parentItem.parse(parent)
  return { keys, revision }
}

/** The condition that no playground key was made since the parent was read, with its value. */
export function hasNoNewPlaygroundKey({ revision }: PlaygroundKeys): {
  readonly condition: string
  readonly values: Readonly<Record<string, number>>
} {
  return revision === undefined
    ? { condition: 'attribute_not_exists(playgroundRevision)', values: {} }
    : { condition: 'playgroundRevision = :playgroundRevision', values: { ':playgroundRevision': revision } }
}

/** The writes that end playground keys: their next request is refused. A key that has expired may be gone, and needs no write. */
export function endPlaygroundKeys(keys: readonly PlaygroundKey[], nowMilliseconds: number): NamedWrites {
  const live = keys.filter(({ expiresAt }) => expiresAt * 1000 > nowMilliseconds)
  return Object.fromEntries(
    live.map(({ digest }, index) => [
      `playgroundKey ${index}`,
      {
        Update: {
          Key: tableKeys.apiKey(digest),
          UpdateExpression: 'SET #state = :revoked',
          ConditionExpression: 'attribute_exists(PK)',
          ExpressionAttributeNames: { '#state': 'state' },
          ExpressionAttributeValues: { ':revoked': 'revoked' },
        },
      },
    ]),
  )
}
