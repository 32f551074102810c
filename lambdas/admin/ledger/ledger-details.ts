import * as z from 'zod/mini'
import { type CountedUsage, countedUsage } from '#core/pricing/usage.ts'
import { usageAttributes } from '#store/usage.ts'

/** The attributes of a ledger row that say what it was for. Grants and corrections have none of them. */
export const ledgerDetailsShape = {
  model: z.optional(z.string()),
  operation: z.optional(z.string()),
  keyId: z.optional(z.string()),
  channel: z.optional(z.string()),
  usage: z.optional(z.object(usageAttributes)),
  counted: z.optional(z.literal(true)),
}

type DetailAttributes = Omit<z.infer<z.ZodMiniObject<typeof ledgerDetailsShape>>, 'usage'> & {
  readonly usage?: Partial<CountedUsage> | undefined
}

/** What an entry of the ledger was for; all null for a grant or a correction. */
export type LedgerDetails = {
  readonly model: string | null
  readonly operation: string | null
  /** Public id of the API key. */
  readonly keyId: string | null
  /** The channel that served a settled job or request. */
  readonly channel: string | null
  /** The usage of a settlement. */
  readonly usage: CountedUsage | null
  /** Whether a usage counter includes the settlement. */
  readonly isCounted: boolean
}

/** Reads the details of a row from its attributes. */
export function readDetails({ model, operation, keyId, channel, usage, counted }: DetailAttributes): LedgerDetails {
  return {
    model: model ?? null,
    operation: operation ?? null,
    keyId: keyId ?? null,
    channel: channel ?? null,
    usage: usage === undefined ? null : countedUsage(usage),
    isCounted: counted === true,
  }
}

/** The details of a reservation, from those of the row that ended it. */
export function detailsOfReservation(details: LedgerDetails): LedgerDetails {
  return { ...details, channel: null, usage: null, isCounted: false }
}

/** The details of an open reservation without a row. */
export const NO_DETAILS: LedgerDetails = readDetails({})
