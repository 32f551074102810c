import type { RelayChannel } from '../catalogue/channel.ts'
import { keepPassingFields } from '../parameters/keep-passing-fields.ts'
import { type PassingList, passingFields, type RelayedApi } from '../parameters/passing-fields.ts'

/** Which fields a channel adds to each list. */
const ADDED_TO = {
  chat: 'chat',
  completions: 'chat',
  embeddings: 'embeddings',
  images: 'images',
} as const satisfies Readonly<Record<PassingList, RelayedApi>>

/**
 * The fields that at least one of the channels would leave out of its request, so that the result does not depend on the
 * channel that happens to take it. Without a channel, those that are not on the list.
 * @param bodyText a valid JSON object.
 */
export function fieldsIgnoredBySome(
  bodyText: string,
  list: PassingList,
  channels: readonly Pick<RelayChannel, 'pass_members'>[],
): readonly string[] {
  const added = channels.map(({ pass_members }) => pass_members[ADDED_TO[list]])
  const ignored = (added.length === 0 ? [[]] : added).map(
    (names) => keepPassingFields(bodyText, passingFields(list, names)).ignored,
  )
  return [...new Set(ignored.flat())]
}
