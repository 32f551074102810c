import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openDownload } from '#adapters/outbound/download-video.ts'
import { uploadVideo } from '#adapters/store/bucket/upload-video.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { createMp4Scanner, type Mp4Scanner } from '#core/media/mp4-header.ts'
import type { StepContext } from '../step-context.ts'

/** One transfer ends before its function does, so that the failure is recorded and the upload aborted. */
const TRANSFER_MILLISECONDS_MAX = 800_000

/** The file ended before its boxes did, without the upstream saying so. */
class VideoCutError extends Error {
  override readonly name = 'VideoCutError'
}

/** What arrived does not begin as an MP4 file does, or is empty. */
export class NotAVideoError extends Error {
  override readonly name = 'NotAVideoError'
}

/** A video that lies in the bucket. */
export type TransferredVideo = {
  /** Its length from its header, in decimal seconds, where the header holds one. */
  readonly durationSeconds: string | undefined
  readonly bytes: number
}

/**
 * Streams one result into the bucket with bounded memory, looking at its boxes as they pass.
 * @throws NotAVideoError, DownloadError or what the bucket throws; nothing is left in the bucket then.
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

/** A download that was given up because its upload failed says nothing of its own. */
function isAborted(download: PromiseSettledResult<void>): boolean {
  return download.status === 'rejected' && download.reason?.name === 'AbortError'
}

/** A file of whole boxes without a movie will not become one by another try; one that broke off may. */
function judgeEnd(scanner: Mp4Scanner): Error | null {
  const { isMp4, hasMovie, isCut } = scanner.finish()
  if (!isMp4 || (!hasMovie && !isCut)) {
    return new NotAVideoError('the result holds no movie')
  }
  return isCut ? new VideoCutError('the result breaks off in the middle of a box') : null
}

/** Lets bytes pass until they turn out not to be a video; then it fails, which stops the download and aborts the upload. */
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
