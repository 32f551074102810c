import type { VideoChannel } from '../catalogue/channel.ts'

/**
 * Start values of the poll rhythm, in seconds, from how long the providers usually take:
 * P1 advises 15 s; for P2 a first wait near the tenth percentile and a constant gap cost least for their lag.
 */
const START_VALUES = { p1: { first: 30, interval: 15 }, p2: { first: 42, interval: 9 } } as const

/** A job this old is polled rarely. */
const SLOW_AFTER_SECONDS = 600
const SLOW_INTERVAL_SECONDS = { min: 30, max: 60 }

/** Waits spread by a fifth either way, so that jobs created together do not poll together. */
const JITTER = 0.2

type PollWait = {
  readonly channel: VideoChannel
  /** Since the submit. */
  readonly elapsedSeconds: number
  /** Jobs that hold a slot of the channel. */
  readonly openJobs: number
  /** From 0 up to 1. */
  readonly random: number
}

/** Whole seconds before the first poll of a submitted job. */
export function firstPollWait(channel: VideoChannel, random: number): number {
  return jittered(channel.poll.first_seconds ?? START_VALUES[channel.provider].first, random)
}

/**
 * Whole seconds until the next poll, stretched so that all open jobs of the channel together stay under its
 * `requests_per_second`, and never beyond the job's deadline by more than a second.
 */
export function nextPollWait({ channel, elapsedSeconds, openJobs, random }: PollWait): number {
  const interval = channel.poll.interval_seconds ?? START_VALUES[channel.provider].interval
  const slow = SLOW_INTERVAL_SECONDS.min + random * (SLOW_INTERVAL_SECONDS.max - SLOW_INTERVAL_SECONDS.min)
  const rhythm = elapsedSeconds > SLOW_AFTER_SECONDS ? Math.max(slow, interval) : interval
  const share = channel.poll.requests_per_second === undefined ? 0 : openJobs / channel.poll.requests_per_second
  const wait = jittered(Math.max(rhythm, share), random)
  const untilDeadline = channel.deadline_minutes * 60 - elapsedSeconds + 1
  return Math.max(1, Math.min(wait, Math.ceil(untilDeadline)))
}

/** Whole seconds until a queued job asks again for a channel: rarer the longer it has waited. */
export function channelWait(waitedSeconds: number, random: number): number {
  return jittered(Math.min(30, Math.max(5, waitedSeconds / 10)), random)
}

/** One second stays one second: a configuration that polls every second means it. */
function jittered(seconds: number, random: number): number {
  return Math.max(1, Math.round(seconds * (1 - JITTER + 2 * JITTER * random)))
}
