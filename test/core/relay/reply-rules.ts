import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import type { ReplyRules } from '#core/relay/reply-scan.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

/** What the shipped configuration hides. */
export const HIDDEN = hiddenFields(shippedCatalogue.config)

export function rulesOf(publicModel: string): ReplyRules {
  return { publicModel, hidden: HIDDEN }
}

/** Gives a short reply byte by byte, and a longer one in three pieces, as a connection may. */
export function pushInPieces(reader: { push(bytes: Buffer): void }, bytes: Buffer): void {
  const size = bytes.length < 2_000 ? 1 : Math.ceil(bytes.length / 3)
  for (let at = 0; at < bytes.length; at += size) {
    reader.push(bytes.subarray(at, at + size))
  }
}
