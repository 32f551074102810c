import type { OutputName, OutputOf } from '#core/api/response-schemas.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { Route } from '#routes/define-route.ts'
import { type ApiEvent, authenticatedCaller } from './api-event.ts'
import type { ShownKey } from './authenticate.ts'
import { openCallerContext } from './caller-context.ts'
import { handlerChain, responding } from './handler-chain.ts'

/** @param allowed the models that the key may use; null for all. */
type DescribeCatalogue<Output extends OutputName> = (
  event: ApiEvent,
  catalogue: Catalogue,
  allowed: readonly string[] | null,
) => OutputOf<Output>

/**
 * The handler of an operation on the catalogue. The key is read afresh, and beside it the switches if they are too old; requests that
 * arrive together may share one read.
 */
export function catalogueHandler<Output extends OutputName>(
  route: Route<string, Output>,
  describe: DescribeCatalogue<Output>,
) {
  const key = {
    lookUp: async ({ keyDigest }: ShownKey) => {
      const { callers, currentCatalogue } = openCallerContext()
      return { caller: await currentCatalogue.readBeside(() => callers.confirm(keyDigest)) }
    },
    limiter: () => openCallerContext().rates,
  }
  const run = async (event: ApiEvent) => {
    const { models } = authenticatedCaller(event)
    return describe(event, await openCallerContext().currentCatalogue.read(), models)
  }
  return handlerChain(route, { key }).handler(responding(route, run))
}
