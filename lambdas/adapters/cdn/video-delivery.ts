/** Who serves stored videos: the CDN by signed urls, or the bucket itself by presigned urls where there is no CDN. */
export type VideoDeliveryMode = 'cdn' | 'bucket'

/** A value of `VIDEO_DELIVERY` that means nothing: a fault of the stack, never of a request. */
export class UnknownVideoDeliveryError extends Error {
  override readonly name = 'UnknownVideoDeliveryError'
}

/**
 * What the stack chose (`VIDEO_DELIVERY`); unset is the CDN.
 * @throws UnknownVideoDeliveryError for any other word.
 */
export function videoDelivery(): VideoDeliveryMode {
  const { VIDEO_DELIVERY: chosen = 'cdn' } = process.env
  if (chosen !== 'cdn' && chosen !== 'bucket') {
    throw new UnknownVideoDeliveryError(`VIDEO_DELIVERY is ${chosen}: use cdn or bucket`)
  }
  return chosen
}
