/** Why a file could not be downloaded. Messages never hold the path or query of a URL, because results have signed URLs. */
export abstract class DownloadError extends Error {
  /** Whether a later try may succeed. */
  abstract readonly isRetryable: boolean
}

/** The guard refuses the URL, a redirect, or the form of the response. */
export class DownloadRefusedError extends DownloadError {
  override readonly name = 'DownloadRefusedError'
  readonly isRetryable = false
}

/** No connection, no response in time, or another status than 200. */
export class DownloadUnavailableError extends DownloadError {
  override readonly name = 'DownloadUnavailableError'
  readonly isRetryable = true
}

/** More bytes than the limit, announced or counted. */
export class DownloadTooLargeError extends DownloadError {
  override readonly name = 'DownloadTooLargeError'
  readonly isRetryable = false
}

/** The body ended before its announced length, or the connection broke. */
export class DownloadIncompleteError extends DownloadError {
  override readonly name = 'DownloadIncompleteError'
  readonly isRetryable = true
}

/** No bytes arrived for too long, or too few over a longer time. */
export class DownloadTooSlowError extends DownloadError {
  override readonly name = 'DownloadTooSlowError'
  readonly isRetryable = true
}
