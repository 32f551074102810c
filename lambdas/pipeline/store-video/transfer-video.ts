import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { createMp4Scanner, type Mp4Scanner } from '#core/mp4.ts'
import { uploadVideo } from '#store/bucket/upload-video.ts'
import { openDownload } from '#upstream/guard/download.ts'
import type { StepContext } from '../step-context.ts'

/** A transfer ends before its function does, so that the failure is recorded and the upload aborted. */
const TRANSFER_MILLISECONDS_MAX = 800_000

/** The file ended inside a box, although the download reported no error. */
class VideoCutError extends Error {
  override readonly name = 'VideoCutError'
}

/** The file does not begin as an MP4 file, has no movie, or is empty. */
export class NotAVideoError extends Error {
  override readonly name = 'NotAVideoError'
}

/** A video in the bucket. */
export type TransferredVideo = {
  /** The length in decimal seconds, if the header has one. */
  readonly durationSeconds: string | undefined
  readonly bytes: number
}

/**
 * Streams one result into the bucket with bounded memory and checks its boxes on the way.
 * @throws NotAVideoError, VideoCutError, DownloadError or what the bucket throws; the bucket then keeps nothing.
 */
export async function transferVideo(
  url: string,
  { job, context }: { job: VideoJob; context: StepContext },
): Promise<TransferredVideo> {
  const { config } = context.catalogue
  const bucket = await context.openBucket()
  const { body } = await openDownload({
    url,
    trustedOrigins: config.trusted_origins,
    maxBytes: config.max_video_bytes,
    signal: AbortSignal.timeout(TRANSFER_MILLISECONDS_MAX),
    ...context.network,
  })
  const scanner = createMp4Scanner()
  let bytes = 0
  const checked = checkedPassage(scanner, (chunkBytes) => {
    bytes += chunkBytes
  })
  const [download, upload] = await Promise.allSettled([
    pipeline(body, checked),
    uploadVideo(bucket, job.videoKey, checked),
  ])
  if (upload.status === 'rejected' && isAborted(download)) {
    throw upload.reason
  }
  if (download.status === 'rejected') {
    throw download.reason
  }
  if (upload.status === 'rejected') {
    throw upload.reason
  }
  return { durationSeconds: scanner.finish().durationSeconds, bytes }
}

/** Whether the download ended only because its upload failed. */
function isAborted(download: PromiseSettledResult<void>): boolean {
  return download.status === 'rejected' && download.reason?.name === 'AbortError'
}

/** Another try may complete a file that broke off, but does not add a movie to a complete file. */
function judgeEnd(scanner: Mp4Scanner): Error | null {
  const { isMp4, hasMovie, isCut } = scanner.finish()
  if (!isMp4 || (!hasMovie && !isCut)) {
    return new NotAVideoError('the result holds no movie')
  }
  return isCut ? new VideoCutError('the result breaks off in the middle of a box') : null
}

/** Passes bytes on until they prove not to be a video; then fails, which stops the download and aborts the upload. */
function checkedPassage(scanner: Mp4Scanner, onPassed: (bytes: number) => void): Transform {
  const refuse = () => new NotAVideoError('the result does not begin as an MP4 file')
  return new Transform({
    transform(chunk: Buffer, _, callback: TransformCallback) {
      scanner.push(chunk)
      if (scanner.verdict() === 'not_mp4') {
        callback(refuse())
      } else {
        onPassed(chunk.length)
        callback(null, chunk)
      }
    },
    flush(callback: TransformCallback) {
      callback(judgeEnd(scanner))
    },
  })
}
