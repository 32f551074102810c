import type { VideoJob, VideoResult } from '#core/jobs/video-job.ts'
import { readP1Result } from './p1/p1-reading.ts'
import { readP2Result } from './p2/p2-result.ts'

/**
 * Reads a stored success reply by the wire contract of its provider. Because this is a pure function, no fact of a result is
 * stored twice, and a step that only reads needs neither the channel nor its credential.
 */
export function readVideoResult(provider: NonNullable<VideoJob['provider']>, text: string): VideoResult {
  switch (provider) {
    case 'p1':
      return readP1Result(text)
    case 'p2':
      return readP2Result(text)
    default:
      return provider satisfies never
  }
}
