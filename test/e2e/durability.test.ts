import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { seededRandom } from '../engines/seeded-random.ts'
import { REPOSITORY } from './child-environment.ts'
import { grownBy, KilledGateway, startWatchedUpstreams } from './killed-gateway.ts'
import { eventually, startReceiver } from './video-client.ts'

/** What the gateway is in the middle of when it is killed, in the order in which a burst of jobs comes to it. */
const MOMENTS = ['create', 'submit', 'poll', 'store', 'settle'] as const

/** `KILLS=50 npm test -- test/e2e/durability.test.ts` for a long run: ten rounds of five kills and fifty jobs. */
const KILLS = Number(process.env.KILLS ?? MOMENTS.length)
const JOBS_PER_ROUND = 50
/** Side by side, so that creates go on through all the kills of a round. */
const CLIENTS = 12
/** `SEED=...` repeats the moments of a run that failed. */
const SEED = Number(process.env.SEED ?? randomInt(1_000_000))

/** Room for a start and the work between two kills, on a machine that is busy with something else. */
const SECONDS_PER_KILL = 120
/** A claim whose submit was cut off may be in flight for 45 s: the last host starts when nobody can be at work any more. */
const LAST_START_SECONDS_LATER = 60

/** What the upstreams make of every one of these jobs. */
const CLIP = readFileSync(join(REPOSITORY, 'lib/simulators/clips/16x9-05s.mp4'))

type Job = { readonly id: string; readonly status: string; readonly error?: string; readonly url?: string }

describe(`a gateway killed ${KILLS} times (SEED=${SEED})`, () => {
  const random = seededRandom(SEED)
  let upstreams: Awaited<ReturnType<typeof startWatchedUpstreams>>
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let killed: KilledGateway
  /** The id that each client got, by its prompt. */
  const created = new Map<string, string>()

  beforeAll(async () => {
    upstreams = await startWatchedUpstreams()
    receiver = await startReceiver()
    killed = new KilledGateway(upstreams, receiver.origin)
    await killed.current
  })

  afterAll(async () => {
    await Promise.allSettled([killed.end(), upstreams.close(), receiver.close()])
  })

  const done = (moment: (typeof MOMENTS)[number]) => {
    switch (moment) {
      case 'create':
        return created.size
      case 'settle':
        return receiver.received.length
      default:
        return upstreams.asked(moment)
    }
  }

  /** Some submits are answered late and some videos take longer, so that every kill meets jobs of several ages. */
  const promptOf = (name: string) => {
    const late = random() < 0.2 ? '[late:0.5] ' : ''
    return `${late}[slow:${(1 + random() * 5).toFixed(1)}] ${name}`
  }

  /** A client that does not give up: it repeats its request, under one idempotency key, until it is answered. */
  const create = async ({ prompt, model }: { prompt: string; model: string }) => {
    const body = { model, prompt, callback_url: `${receiver.origin}/cb` }
    while (!created.has(prompt)) {
      const { api } = await killed.current
      const answer = await api.create(body, { 'idempotency-key': prompt }).catch(() => undefined)
      if (answer?.status === 201) {
        created.set(prompt, String(answer.json.id))
      } else {
        await delay(20)
      }
    }
  }

  const runRound = async (round: number, kills: number) => {
    const wanted = Array.from({ length: JOBS_PER_ROUND }, (_, index) => ({
      prompt: promptOf(`job ${round}-${index}`),
      model: index % 2 === 0 ? 'famB-1.1-t2v' : 'famA-2',
    }))
    const client = async () => {
      for (let job = wanted.shift(); job !== undefined; job = wanted.shift()) {
        await create(job)
      }
    }
    const creating = Promise.all(Array.from({ length: CLIENTS }, client))
    for (const moment of MOMENTS.slice(0, kills)) {
      const grown = grownBy(1 + Math.trunc(random() * 5), () => done(moment))
      await Promise.race([grown, creating.then(() => grown)])
      await delay(random() * 30)
      await killed.killAndStart()
    }
    await creating
  }

  const listAll = async (): Promise<Job[]> => {
    const { api } = await killed.current
    const jobs: Job[] = []
    for (let query = '?limit=100'; query !== ''; ) {
      const { json } = await api.list(query)
      jobs.push(...Object(json).data)
      query = json.has_more === true ? `?limit=100&after=${json.last_id}` : ''
    }
    return jobs
  }

  const isOver = ({ status }: Job) => status === 'succeeded' || status === 'failed'

  it(
    'ends every job, submits none twice, calls back at most once, and its ledger verifies',
    async () => {
      for (let round = 0; round * MOMENTS.length < KILLS; round += 1) {
        await runRound(round, KILLS - round * MOMENTS.length)
      }
      await killed.killAndStart(LAST_START_SECONDS_LATER)
      const jobs = await eventually(listAll, (all) => all.every(isOver))

      expect(jobs.map(({ id }) => id).sort()).toEqual([...created.values()].sort())
      const prompts = upstreams.acceptedPrompts()
      expect(new Set(prompts).size).toBe(prompts.length)
      const succeeded = jobs.filter(({ status }) => status === 'succeeded')
      expect(succeeded).not.toEqual([])
      const accepted = new Set(prompts.map((prompt) => created.get(prompt)))
      expect(succeeded.filter(({ id }) => !accepted.has(id))).toEqual([])
      const failures = jobs.filter(({ status }) => status === 'failed').map(({ error }) => error)
      expect([...new Set(failures)].filter((error) => error !== 'submit outcome unknown')).toEqual([])
      for (const { url = '' } of succeeded) {
        const video = await fetch(url)
        expect(Buffer.from(await video.arrayBuffer()).equals(CLIP)).toBe(true)
      }

      const called = receiver.received.map(({ body }) => String(JSON.parse(body).id))
      expect(new Set(called).size).toBe(called.length)
      const gateway = await killed.current
      expect(await gateway.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
      expect(await gateway.admin('tenant', 'show', '--tenant', 'demo')).toMatchObject({
        held: '0',
        spent: String(succeeded.length * 0.25),
      })
    },
    (KILLS + 1) * SECONDS_PER_KILL * 1000,
  )
})
