import { isTerminal } from '#core/jobs/video-job.ts'
import { missingAlerts } from './alert-invariants.ts'
import { rule } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import type { World } from './world.ts'

/** What is not over yet, in words. @param requests relayed requests that are being served. */
export function stillOpen(
  snapshot: Snapshot | undefined,
  { world, requests }: { readonly world: World; readonly requests: number },
): string[] {
  const held = [...(snapshot?.reservations ?? [])].filter(([, { state }]) => state === 'held')
  return [
    ...held.map(([jobId]) => `the reservation of ${jobId} stays open`),
    ...(snapshot?.holds ?? []).map(({ holdId }) => `hold ${holdId} stays`),
    ...(snapshot === undefined ? [] : missingAlerts(snapshot, world.scheduler.nowMilliseconds())),
    ...rule(requests === 0, 'a relayed request never ends'),
    ...rule((world.storms?.underWay ?? 0) === 0, 'a late transaction never arrives'),
    ...world.executions.running.map(({ name }) => `execution ${name} never ends`),
    ...(snapshot !== undefined && snapshot.cleanUps > 0 ? ['a deleted job is never cleaned up'] : []),
  ]
}

/** At the end a video is there exactly when its job succeeded and was not deleted. */
export function leftovers(snapshot: Snapshot | undefined, { objects }: Pick<World, 'objects'>): string[] {
  const jobs = [...(snapshot?.jobs.values() ?? [])]
  const expected = jobs.filter((job) => job.status === 'succeeded' && !job.isDeleted).map((job) => job.videoKey)
  const stored = [...objects.keys()].filter((key) => key.startsWith('v/'))
  return [
    ...expected.filter((key) => !stored.includes(key)).map((key) => `the video ${key} is not there`),
    ...stored.filter((key) => !expected.includes(key)).map((key) => `the video ${key} was left behind`),
    ...jobs.filter((job) => !isTerminal(job)).map((job) => `job ${job.jobId} never ended`),
  ]
}
