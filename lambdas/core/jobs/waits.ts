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
  const wait = Math.max(rhythm(channel, elapsedSeconds, random), share(channel, openJobs, random))
  const untilDeadline = channel.deadline_minutes * 60 - elapsedSeconds + 1
  return Math.max(1, Math.min(wait, Math.ceil(untilDeadline)))
}

/** The slow interval is a draw already and is not spread again. */
function rhythm(channel: VideoChannel, elapsedSeconds: number, random: number): number {
  const usual = jittered(channel.poll.interval_seconds ?? START_VALUES[channel.provider].interval, random)
  const { min, max } = SLOW_INTERVAL_SECONDS
  return elapsedSeconds > SLOW_AFTER_SECONDS ? Math.max(usual, Math.round(min + random * (max - min))) : usual
}

/** What a job must leave to the others of its channel. Spread upwards only: a shorter wait would break the limit. */
function share(channel: VideoChannel, openJobs: number, random: number): number {
  const { requests_per_second } = channel.poll
  return requests_per_second === undefined ? 0 : Math.ceil((openJobs / requests_per_second) * (1 + JITTER * random))
}

/** A tenth of the time already waited, within these bounds. */
const CHANNEL_WAIT_SECONDS = { min: 5, max: 30 }

/** Whole seconds until a queued job asks again for a channel: rarer the longer it has waited. */
export function channelWait(waitedSeconds: number, random: number): number {
  return jittered(Math.min(CHANNEL_WAIT_SECONDS.max, Math.max(CHANNEL_WAIT_SECONDS.min, waitedSeconds / 10)), random)
}

/** One second stays one second: a configuration that polls every second means it. */
function jittered(seconds: number, random: number): number {
  return Math.max(1, Math.round(seconds * (1 - JITTER + 2 * JITTER * random)))
}
