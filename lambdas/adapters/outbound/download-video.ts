import type { IncomingMessage } from 'node:http'
import { addAbortSignal, type Readable } from 'node:stream'
import { boundBody, DOWNLOAD_PACE, type PaceLimits } from './bounded-body.ts'
import { DownloadTooLargeError, DownloadUnavailableError } from './download-errors.ts'
import { getGuarded, refuseContentCoding } from './guarded-get.ts'
import type { OutboundNetwork } from './outbound-network.ts'

/** Which file to download, and its bounds: bytes, pace, and the signal that ends it. */
export type DownloadCommand = {
  readonly url: string
  /** Origins (`http://127.0.0.1:9400`) that may be private or plain http. */
  readonly trustedOrigins: readonly string[]
  readonly maxBytes: number
  readonly signal?: AbortSignal
  readonly pace?: PaceLimits
} & Partial<OutboundNetwork>

/** A download whose head has come: its body, and the length in bytes where it was announced. */
export type OpenDownload = {
  /** Fails with DownloadTooLargeError, DownloadIncompleteError or DownloadTooSlowError; must be read to its end or destroyed. */
  readonly body: Readable
  readonly contentLength: number | undefined
}

/**
 * Opens a generated video at its upstream. The url is data from outside: https to public addresses only, unless its origin is
 * trusted, with at most three redirects, and neither credentials nor content coding.
 * @throws DownloadRefusedError, DownloadUnavailableError or DownloadTooLargeError (announced length) before any byte is given.
 */
export async function openDownload(command: DownloadCommand): Promise<OpenDownload> {
  const { pace = DOWNLOAD_PACE } = command
  return openBody(
    await getGuarded({ ...command, namedBy: 'upstream', answerMilliseconds: pace.idleMilliseconds }),
    command,
  )
}

function openBody(response: IncomingMessage, command: DownloadCommand): OpenDownload {
  try {
    const contentLength = checkHead(response, command.maxBytes)
    const { maxBytes, signal, pace = DOWNLOAD_PACE } = command
    const body = boundBody(response, { contentLength, maxBytes, pace })
    return { body: signal === undefined ? body : addAbortSignal(signal, body), contentLength }
  } catch (error) {
    response.destroy()
    throw error
  }
}

/** The announced length, where there is one. */
function checkHead(response: IncomingMessage, maxBytes: number): number | undefined {
  const { statusCode, headers } = response
  if (statusCode !== 200) {
    throw new DownloadUnavailableError(`the upstream said ${statusCode}`)
  }
  refuseContentCoding(headers)
  const announced = headers['content-length']
  if (announced === undefined) {
    return undefined
  }
  const contentLength = Number(announced)
  if (contentLength > maxBytes) {
    throw new DownloadTooLargeError(`the file is larger than ${maxBytes} bytes`)
  }
  return contentLength
}
