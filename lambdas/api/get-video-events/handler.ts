import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from 'aws-lambda'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { TooManyEventStreamsError, VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import { isVisible, type VideoJob } from '#core/jobs/video-job.ts'
import {
  type ApiEvent,
  type ApiResult,
  authenticatedCaller,
  headerOf,
  jsonResult,
  requestIdOf,
} from '#middleware/api-event.ts'
import { keyedChain } from '#middleware/api-handler.ts'
import type { ShownKey } from '#middleware/authenticate.ts'
import { once } from '#platform/cache.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { getVideoEvents } from '#routes/video-jobs.ts'
import { createCallerWithJobReader } from '#store/jobs/caller-with-job.ts'
import {
  type EventStreamLease,
  releaseEventStreamLease,
  takeEventStreamLease,
} from '#store/limits/event-stream-leases.ts'
import { openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { EventSender, ResponseHeaders, STREAM_HEADERS } from '../../relay/client-response.ts'
import { type LambdaResponseStream, StreamingResponse, streamifyResponse } from '../../relay/streaming-response.ts'
import { EventMessages, followJob, prefersEventStream, readFollowedJob, readingOf } from './follow-job.ts'

/**
 * The longest life of a stream. Lambda never tells that a client has left, so this is also how long a closed tab keeps its function
 * and its place. A client that comes back with `Last-Event-ID` misses nothing.
 */
const STREAM_MILLISECONDS_MAX = 60_000

/** What a function needs at its end to send the last bytes and to give the place of the stream back. */
const CLOSING_MILLISECONDS = 10_000

/** When clients come back after the end of a stream; of a gateway that cannot stream, for the next events. */
const RETRY = { live: 'retry: 1000\n\n', snapshot: 'retry: 5000\n\n' }

const table = once(openTable)
const findCallerWithJob = createCallerWithJobReader()

/** A stream that the chain has let pass. */
type Stream = { readonly job: VideoJob; readonly messages: EventMessages; readonly lease: EventStreamLease }

/** Streams between the chain, which lets them pass, and the response, which sends them. */
const streams = new WeakMap<ApiEvent, Stream>()

function chain({ isLive }: { readonly isLive: boolean }) {
  const options = {
    openTable: table,
    lookUpKey: (open: Table, { event, ...key }: ShownKey) =>
      findCallerWithJob(open, { ...key, jobId: jobIdOf(event.pathParameters) }),
  }
  return keyedChain(getVideoEvents, options).handler(async (event) => {
    const nowSeconds = Date.now() / 1000
    const { job } = event
    if (job === undefined || !isVisible(job, nowSeconds)) {
      throw new VideoJobNotFoundError()
    }
    const { events, isComplete } = readingOf(job, nowSeconds)
    if (!prefersEventStream(event)) {
      return jsonResult(200, JSON.stringify({ object: 'list', data: events }))
    }
    const lastEventId = headerOf(event, 'last-event-id')
    const messages = new EventMessages(lastEventId)
    if (isLive && !isComplete) {
      streams.set(event, { job, messages, lease: await takeLease(event) })
      return streamResult('')
    }
    const body = messages.next(events)
    if (isComplete && body === '' && lastEventId !== undefined) {
      return { statusCode: 204, headers: {}, body: '' }
    }
    return streamResult(isComplete ? body : `${RETRY.snapshot}${body}`)
  })
}

function jobIdOf(parameters: Readonly<Record<string, string | undefined>> | null): string | undefined {
  const jobId = parameters?.job_id ?? ''
  return isJobId(jobId) ? jobId : undefined
}

function streamResult(body: string): ApiResult {
  return { statusCode: 200, headers: STREAM_HEADERS, body }
}

/** @throws TooManyEventStreamsError */
async function takeLease(event: ApiEvent): Promise<EventStreamLease> {
  const { keyId } = authenticatedCaller(event)
  const nowSeconds = Math.trunc(Date.now() / 1000)
  const until = nowSeconds + (STREAM_MILLISECONDS_MAX + CLOSING_MILLISECONDS) / 1000
  const lease = { keyId, leaseId: crypto.randomUUID(), until }
  if (!(await takeEventStreamLease(table(), lease, nowSeconds))) {
    throw new TooManyEventStreamsError()
  }
  return lease
}

const live = chain({ isLive: true })

/** GET /v1/video/generations/{job_id}/events, in one piece: a list, or the events until now. */
export const handler = chain({ isLive: false })

/** The same, and live: a stream goes on until the job has ended. */
export const streamHandler = streamifyResponse(
  async (event: ApiEvent, responseStream: LambdaResponseStream, lambda: Context): Promise<void> => {
    const requestId = requestIdOf(event, lambda)
    const response = new StreamingResponse(responseStream, new ResponseHeaders(requestId))
    const { statusCode, headers = {}, body } = await live(event, lambda)
    const stream = streams.get(event)
    const strings = Object.entries(headers).map(([name, value]) => [name, String(value)])
    const length =
      stream === undefined && statusCode !== 204 ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    const sender = new EventSender(response, OPENAI_ERRORS)
    response.open({
      statusCode,
      headers: { ...Object.fromEntries(strings), ...length },
      outOfTime: () => sender.outOfTime,
    })
    if (stream === undefined) {
      response.write(body)
      response.end()
    } else {
      await follow(stream, { event, response, sender, requestId, lambda })
    }
    await response.finished()
  },
)

type Following = {
  readonly event: ApiEvent
  readonly response: StreamingResponse
  readonly sender: EventSender
  readonly requestId: string
  readonly lambda: Context
}

async function follow({ job, messages, lease }: Stream, following: Following): Promise<void> {
  const { event, response, sender, requestId, lambda } = following
  const { tenantId } = authenticatedCaller(event)
  const startedAt = Date.now()
  const time = Math.min(STREAM_MILLISECONDS_MAX, lambda.getRemainingTimeInMillis() - CLOSING_MILLISECONDS)
  // A client that takes nothing is not waited for.
  const timeUp = setTimeout(() => response.giveUp(), time + CLOSING_MILLISECONDS / 2)
  sender.keepAlive()
  try {
    await sender.send(RETRY.live)
    const followed = await followJob(job, messages, {
      nowMilliseconds: () => Date.now(),
      pause: (milliseconds) => delay(milliseconds, undefined, { signal: response.gone }).catch(() => undefined),
      readJob: (nowSeconds) => readFollowedJob(table(), job, nowSeconds),
      gone: response.gone,
      send: (events) => sender.send(events),
      endsAt: startedAt + time,
    })
    logger.info('events followed', {
      requestId,
      tenantId,
      seconds: Math.round((Date.now() - startedAt) / 1000),
      ...followed,
    })
  } catch (error) {
    logger.error('events broke off', { requestId, error: error instanceof Error ? error : new Error(String(error)) })
  } finally {
    clearTimeout(timeUp)
    // First, so that a client that comes back at once finds its place free.
    await releaseEventStreamLease(table(), lease).catch((error) => logger.warn('lease kept', { requestId, error }))
    sender.end()
  }
}
