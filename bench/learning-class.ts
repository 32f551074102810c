import { addGenerationTime, readUsualSeconds } from '#adapters/store/jobs/generation-times.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { sampleSeconds } from '#core/jobs/generation-times.ts'
import { type Detection, pollToTheEnd } from './poll-loop.ts'

/** Jobs one after the other, each with its class and its generation time. */
type Jobs = readonly { readonly className: string; readonly seconds: number }[]

type Learning = {
  readonly table: Table
  readonly channel: VideoChannel
  readonly random: () => number
  /** Whether success answers hold the generation time. */
  readonly isReported: boolean
}

/** Runs the jobs as the gateway would: each reads what its class has been taking from the table, and adds its own time. */
export async function runLearning(jobs: Jobs, { table, channel, random, isReported }: Learning): Promise<Detection[]> {
  const detections: Detection[] = []
  for (const { className, seconds } of jobs) {
    const key = { channelId: channel.id, className }
    const usual = await readUsualSeconds(table, key)
    const detection = pollToTheEnd({ channel, seconds, usual, random })
    detections.push(detection)
    const { elapsed, waited } = detection
    const reportedSeconds = isReported ? seconds : undefined
    const sample = sampleSeconds({ reportedSeconds, elapsedSeconds: elapsed, waitedSeconds: waited })
    if (sample !== undefined) {
      await addGenerationTime(table, key, { seconds: sample, nowSeconds: 0 })
    }
  }
  return detections
}
