import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { type ApiEvent, authenticatedCaller, jsonResult } from './api-event.ts'
import type { ShownKey } from './authenticate.ts'
import { openCallerContext } from './caller-context.ts'
import { handlerChain } from './handler-chain.ts'

type DescribeCatalogue = (event: ApiEvent, catalogue: Catalogue, allowed: readonly string[] | null) => object

/**
 * The chain of the operations on the catalogue. The key is read afresh, and beside it the switches if they are too old; requests that
 * arrive together may share one read.
 */
export function catalogueHandler(operation: string, describe: DescribeCatalogue) {
  const key = {
    lookUp: async ({ keyDigest }: ShownKey) => {
      const { callers, currentCatalogue } = openCallerContext()
      return { caller: await currentCatalogue.readBeside(() => callers.confirm(keyDigest)) }
    },
    limiter: () => openCallerContext().rates,
  }
  return handlerChain({ operation, key }).handler(async (event) => {
    const { models } = authenticatedCaller(event)
    const catalogue = await openCallerContext().currentCatalogue.read()
    return jsonResult(200, JSON.stringify(describe(event, catalogue, models)))
  })
}
