import type { Catalogue } from '../catalogue/catalogue.ts'
import type { VideoPriceTier } from '../catalogue/price-rows.ts'
import { parseVideoJobRequest, UNKNOWN_MODEL } from '../contract/video-job-request.ts'
import { InvalidRequestError } from '../errors.ts'
import type { VideoJobRequest } from '../parameters/video-parameters.ts'
import { estimateVideoLine, requestedTier } from './estimate.ts'
import type { PriceLine } from './price-line.ts'
import { type PriceSnapshot, snapshotPrices } from './price-snapshot.ts'

/** A valid request with its price: what a create reserves, and what a quote shows. */
export type VideoOffer = {
  readonly request: VideoJobRequest
  readonly tier: VideoPriceTier
  readonly snapshot: PriceSnapshot
  /** The estimate, an upper bound of the cost. */
  readonly line: PriceLine
}

type OfferContext = {
  readonly catalogue: Catalogue
  /** Models that the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

/**
 * Validates the body of a create and prices it.
 * @throws InvalidRequestError naming each field to correct.
 */
export function offerVideoJob(body: unknown, context: OfferContext): VideoOffer {
  const request = parseVideoJobRequest(body, context)
  const model = context.catalogue.findVideoModel(request.model)
  if (model === undefined) {
    throw new InvalidRequestError([UNKNOWN_MODEL])
  }
  const tier = requestedTier(request)
  return { request, tier, snapshot: snapshotPrices(model, tier), line: estimateVideoLine(request, model) }
}
