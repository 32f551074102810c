import { addAbortSignal, type Readable } from 'node:stream'
import type { HttpResponse } from '../http/send-once.ts'
import { boundBody, DOWNLOAD_PACE, type PaceLimits } from './bounded-body.ts'
import { DownloadTooLargeError, DownloadUnavailableError } from './download-errors.ts'
import { getGuarded, refuseContentCoding } from './guarded-get.ts'
import type { OutboundNetwork } from './outbound-network.ts'

/** Which file to download, its limits, and the signal that ends the download. */
export type DownloadCommand = {
  readonly url: string
  /** Origins (`http://127.0.0.1:9400`) that may be private or plain http. */
  readonly trustedOrigins: readonly string[]
  readonly maxBytes: number
  readonly signal?: AbortSignal
  readonly pace?: PaceLimits
} & Partial<OutboundNetwork>

/** A download whose head has arrived: its body, and the announced length in bytes, if any. */
export type OpenDownload = {
  /** Fails with DownloadTooLargeError, DownloadIncompleteError or DownloadTooSlowError. Read it to its end or destroy it. */
  readonly body: Readable
  readonly contentLength: number | undefined
}

/**
 * Opens a generated video at its upstream, as {@link getGuarded} does: the URL came from outside.
 * @throws DownloadRefusedError, DownloadUnavailableError or DownloadTooLargeError (by the announced length).
 */
export async function openDownload(command: DownloadCommand): Promise<OpenDownload> {
  const { pace = DOWNLOAD_PACE } = command
  return openBody(
    await getGuarded({ ...command, namedBy: 'upstream', replyMilliseconds: pace.idleMilliseconds }),
    command,
  )
}

function openBody(response: HttpResponse, command: DownloadCommand): OpenDownload {
  try {
    const contentLength = checkHead(response, command.maxBytes)
    const { maxBytes, signal, pace = DOWNLOAD_PACE } = command
    const body = boundBody(response.body, { maxBytes, pace })
    return { body: signal === undefined ? body : addAbortSignal(signal, body), contentLength }
  } catch (error) {
    response.body.destroy()
    throw error
  }
}

/** The announced length, if any. */
function checkHead({ status, headers }: HttpResponse, maxBytes: number): number | undefined {
  if (status !== 200) {
    throw new DownloadUnavailableError(`the upstream said ${status}`)
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
