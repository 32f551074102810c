import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import type { ReplyRules } from '#core/relay/reply-members.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

/** What the shipped configuration hides. */
export const HIDDEN = hiddenFields(shippedCatalogue.config)

export function rulesOf(publicModel: string): ReplyRules {
  return { publicModel, hidden: HIDDEN }
}
