/** Who serves stored videos: the CDN by signed URLs, or, without a CDN, the bucket itself by presigned URLs. */
export type VideoDeliveryMode = 'cdn' | 'bucket'

/** `VIDEO_DELIVERY` has an unknown value: a fault of the stack, never of a request. */
export class UnknownVideoDeliveryError extends Error {
  override readonly name = 'UnknownVideoDeliveryError'
}

/**
 * Reads the choice of the stack (`VIDEO_DELIVERY`). The default is the CDN.
 * @throws UnknownVideoDeliveryError for any other word.
 */
export function videoDelivery(): VideoDeliveryMode {
  const { VIDEO_DELIVERY: chosen = 'cdn' } = process.env
  if (chosen !== 'cdn' && chosen !== 'bucket') {
    throw new UnknownVideoDeliveryError(`VIDEO_DELIVERY is ${chosen}: use cdn or bucket`)
  }
  return chosen
}
