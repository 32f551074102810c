import type { RelayChannel } from '#core/catalogue/channel.ts'
import { fieldsIgnoredBySome } from '#core/contract/fields-ignored-by-some.ts'
import type { PassingList } from '#core/parameters/passing-fields.ts'
import type { RelayExchange } from './relay-exchange.ts'

type Known = {
  /** The built-in list of fields of the operation. */
  readonly list: PassingList
  /** Every channel that may take the request. */
  readonly channels: readonly Pick<RelayChannel, 'pass_members'>[]
}

/**
 * Refuses a request with `Prefer: handling=strict` if a channel of its model would ignore a field, or if it has an unknown
 * query parameter. To be called before the reservation.
 * @throws InvalidRequestError naming them.
 */
export function refuseIgnoredFields(
  exchange: Pick<RelayExchange, 'isStrict' | 'body' | 'refuseIgnored'>,
  { list, channels }: Known,
): void {
  if (exchange.isStrict) {
    exchange.refuseIgnored(fieldsIgnoredBySome(exchange.body.text, list, channels))
  }
}
