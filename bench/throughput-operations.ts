import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { PROCESSING_MODEL, SUCCEEDING_MODEL } from './bench-config.ts'
import { LoadClient, type LoadRequest } from './closed-loop.ts'

const VIDEOS_PATH = '/v1/video/generations'

/** Jobs of the tenant whose list is read, and the length of a page of it. */
const LISTED_JOBS = 1_000
const PAGE_JOBS = 20

/** Connections that prepare a host. */
const PREPARING_CONNECTIONS = 16

/** A succeeding job takes about five seconds; all of a page are polled at the upstream's own bounded rate. */
const SUCCESS_MILLISECONDS_MAX = 60_000
const LOOK_MILLISECONDS = 500

/** What is measured: one HTTP operation against a host that was prepared for it. */
export type ThroughputOperation = {
  readonly name: string
  /** As configured: how long a `POST` waits for the upstream's submit answer. */
  readonly submitWaitSeconds: number
  readonly expectedStatus: number
  /** Makes what the operation reads, and answers what gives each next request. */
  readonly prepare: (target: { url: string; key: string }) => Promise<() => LoadRequest>
}

/** Every operation of the table, in its order. */
export const THROUGHPUT_OPERATIONS: readonly ThroughputOperation[] = [
  create('create, answered with the submit', 10),
  create('create, answered when accepted', 0),
  read('get, processing', async (client) => cycle(await createJobs(client, PROCESSING_MODEL, PAGE_JOBS))),
  read('get, succeeded (signed url)', async (client) => cycle(await createSucceeded(client))),
  read(`list ${PAGE_JOBS} of 1,000, processing`, async (client) => {
    await createJobs(client, PROCESSING_MODEL, LISTED_JOBS)
    return page
  }),
  read(`list ${PAGE_JOBS} of 1,000, succeeded`, async (client) => {
    await createJobs(client, PROCESSING_MODEL, LISTED_JOBS - PAGE_JOBS)
    await createSucceeded(client)
    return page
  }),
]

function create(name: string, submitWaitSeconds: number): ThroughputOperation {
  return { name, submitWaitSeconds, expectedStatus: 201, prepare: async () => () => createRequest(PROCESSING_MODEL) }
}

function read(name: string, prepare: (client: LoadClient) => Promise<() => LoadRequest>): ThroughputOperation {
  return {
    name,
    submitWaitSeconds: 0,
    expectedStatus: 200,
    prepare: async (target) => {
      const client = new LoadClient({ ...target, connections: PREPARING_CONNECTIONS })
      try {
        return await prepare(client)
      } finally {
        client.close()
      }
    },
  }
}

function createRequest(model: string): LoadRequest {
  const body = JSON.stringify({ model, prompt: 'a paper city lights up at night', duration: 5, resolution: '720P' })
  return { method: 'POST', path: VIDEOS_PATH, body }
}

function page(): LoadRequest {
  return { method: 'GET', path: `${VIDEOS_PATH}?limit=${PAGE_JOBS}` }
}

/** One after the other, again and again. */
function cycle(jobIds: readonly string[]): () => LoadRequest {
  let index = 0
  return () => {
    index = (index + 1) % jobIds.length
    return { method: 'GET', path: `${VIDEOS_PATH}/${jobIds[index]}` }
  }
}

const job = z.object({ id: z.string(), status: z.string() })

async function createJobs(client: LoadClient, model: string, count: number): Promise<string[]> {
  const ids: string[] = []
  let left = count
  const work = async () => {
    while (left > 0) {
      left -= 1
      const { text } = await client.send(createRequest(model))
      ids.push(job.parse(JSON.parse(text)).id)
    }
  }
  await Promise.all(Array.from({ length: PREPARING_CONNECTIONS }, work))
  await untilEvery(client, ids.slice(-1), ['processing', 'succeeded'])
  return ids
}

async function createSucceeded(client: LoadClient): Promise<string[]> {
  const ids = await createJobs(client, SUCCEEDING_MODEL, PAGE_JOBS)
  await untilEvery(client, ids, ['succeeded'])
  return ids
}

async function untilEvery(client: LoadClient, ids: readonly string[], statuses: readonly string[]): Promise<void> {
  const giveUpAt = Date.now() + SUCCESS_MILLISECONDS_MAX
  for (const id of ids) {
    for (;;) {
      const { text } = await client.send({ method: 'GET', path: `${VIDEOS_PATH}/${id}` })
      if (statuses.includes(job.parse(JSON.parse(text)).status)) {
        break
      }
      if (Date.now() > giveUpAt) {
        throw new Error(`job ${id} is not ${statuses.join(' or ')} in time: ${text}`)
      }
      await delay(LOOK_MILLISECONDS)
    }
  }
}
