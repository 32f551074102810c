import { expect } from '@jest/globals'
import { type DownloadCommand, openDownload } from '#upstream/guard/download.ts'
import type { Loopback } from '../../platform/http/loopback.ts'

export const MAX_BYTES = 1_000_000

/** A download of one url of this server, which is trusted. */
export function from(server: Loopback, more: Partial<DownloadCommand> = {}): DownloadCommand {
  const url = `${server.origin}/video.mp4?signature=secret`
  return { url, trustedOrigins: [server.origin], maxBytes: MAX_BYTES, ...more }
}

/** Opens and reads to the end. */
export async function download(command: DownloadCommand): Promise<Buffer> {
  const { body } = await openDownload(command)
  return Buffer.concat(await body.toArray())
}

/** The failure of a download, whose message must not hold the query of the url. */
export async function failureOf(command: DownloadCommand): Promise<unknown> {
  try {
    await download(command)
    return 'no failure'
  } catch (error) {
    expect(String(error)).not.toContain('secret')
    return error
  }
}
