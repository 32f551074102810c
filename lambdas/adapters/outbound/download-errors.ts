/** Why a result could not be fetched. Messages never hold the path or query of a url: results have signed urls. */
export abstract class DownloadError extends Error {
  /** Whether another try later may go better. */
  abstract readonly isRetryable: boolean
}

/** The guard does not allow the url, a hop behind it, or the form of the answer. */
export class DownloadRefusedError extends DownloadError {
  override readonly name = 'DownloadRefusedError'
  readonly isRetryable = false
}

/** No connection, no answer in time, or another status than 200. */
export class DownloadUnavailableError extends DownloadError {
  override readonly name = 'DownloadUnavailableError'
  readonly isRetryable = true
}

/** More bytes than the cap, announced or counted. */
export class DownloadTooLargeError extends DownloadError {
  override readonly name = 'DownloadTooLargeError'
  readonly isRetryable = false
}

/** The body ended before the length that was announced, or the connection broke on the way. */
export class DownloadIncompleteError extends DownloadError {
  override readonly name = 'DownloadIncompleteError'
  readonly isRetryable = true
}

/** Nothing came for too long, or too little for a longer time. */
export class DownloadTooSlowError extends DownloadError {
  override readonly name = 'DownloadTooSlowError'
  readonly isRetryable = true
}
