import { setTimeout as delay } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '#core/json/json-object.ts'
import { createMp4Scanner } from '#core/mp4.ts'
import { type GatewayClient, withoutQuery } from './gateway-client.ts'
import { SmokeFailure } from './smoke-failure.ts'
import type { StepResult } from './step-runner.ts'

const JOBS = '/v1/video/generations'
const PROMPT = 'a paper city lights up at night'

/** The gateway's own fields of a job (docs/api.md, "Fetch a job"); all others come from the upstream. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'status',
  'model',
  'created_at',
  'expires_at',
  'url',
  'duration_secs',
  'error',
])

/** Creates a video job from text; the value is its id. @throws SmokeFailure if the response is not a queued job. */
export async function createJob(client: GatewayClient, model: string): Promise<StepResult<string>> {
  const job = await client.json(JOBS, { status: 201, body: { model, prompt: PROMPT } })
  const { id, status, object } = job
  if (typeof id !== 'string' || status !== 'queued' || object !== 'video.generation') {
    throw new SmokeFailure(`POST ${JOBS} returned 201 without a queued job: ${JSON.stringify(job)}`)
  }
  return { value: id, text: `job ${id} of ${model}, ${status}` }
}

type Waiting = { readonly pollMilliseconds: number; readonly onStatus: (status: string) => void }

/** Polls until the job has ended; the client's signal bounds the time. @throws SmokeFailure unless the job succeeded. */
export async function waitForJob(client: GatewayClient, id: string, waiting: Waiting): Promise<StepResult<JsonObject>> {
  const startedAt = Date.now()
  for (;;) {
    const job = await client.json(`${JOBS}/${id}`, { status: 200 })
    const status = String(job.status)
    waiting.onStatus(status)
    if (status === 'succeeded') {
      return { value: job, text: `succeeded after ${((Date.now() - startedAt) / 1000).toFixed(0)} s` }
    }
    if (status !== 'queued' && status !== 'processing') {
      throw new SmokeFailure(
        `job ${id} is ${status}: ${String(job.error ?? 'without a reason')}`,
        'the log lines with this jobId, and its channel: its key in the channel secret, its base url, its balance',
      )
    }
    await delay(waiting.pollMilliseconds)
  }
}

/** Checks that the job has fields of the upstream beside those of the gateway. @throws SmokeFailure */
export async function checkPassthrough(job: JsonObject): Promise<StepResult<void>> {
  const fields = Object.keys(job).filter((name) => !OWN_FIELDS.has(name))
  if (fields.length === 0) {
    throw new SmokeFailure('the job has no field of the upstream', 'the log lines of the poll function')
  }
  return { value: undefined, text: `upstream fields: ${fields.join(', ')}` }
}

/** Downloads the video by its url, without the key. @throws SmokeFailure unless it is a complete MP4. */
export async function downloadVideo(client: GatewayClient, job: JsonObject): Promise<StepResult<void>> {
  if (typeof job.url !== 'string' || !URL.canParse(job.url)) {
    throw new SmokeFailure('the succeeded job has no url', 'the log lines of the get function')
  }
  const response = await client.download(job.url)
  const scanner = createMp4Scanner()
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    scanner.push(chunk)
    bytes += chunk.length
  }
  const { isMp4, hasMovie, isCut, durationSeconds } = scanner.finish()
  if (!isMp4 || !hasMovie || isCut) {
    const fault = isCut && isMp4 ? 'a truncated MP4' : 'not an MP4'
    throw new SmokeFailure(
      `${withoutQuery(job.url)} is ${fault} (${bytes} bytes)`,
      'the log lines of the store function',
    )
  }
  const seconds = durationSeconds === undefined ? '' : `, ${durationSeconds} s`
  return { value: undefined, text: `MP4 of ${bytes} bytes${seconds} from ${new URL(job.url).host}` }
}

/** Checks that the list of the newest jobs includes the new job. @throws SmokeFailure */
export async function findInList(client: GatewayClient, id: string): Promise<StepResult<void>> {
  const { data } = await client.json(`${JOBS}?limit=20`, { status: 200 })
  const jobs = Array.isArray(data) ? data.filter(isJsonObject) : []
  if (!jobs.some((job) => job.id === id)) {
    throw new SmokeFailure(`the list of ${jobs.length} jobs lacks job ${id}`, 'the log lines of the list function')
  }
  return { value: undefined, text: `among the newest ${jobs.length}` }
}
