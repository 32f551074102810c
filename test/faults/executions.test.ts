import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { channelWait, firstPollWait, nextPollWait } from '#core/jobs/waits.ts'
import { formatCredits, microcredits } from '#core/money.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { createUpstreamHttp, type UpstreamHttp } from '#upstream/providers/upstream-http.ts'
import type { PollOutcome, SubmitOutcome } from '#upstream/providers/video-account.ts'
import {
  accepted,
  createPipeline,
  inTurn,
  type Pipeline,
  running,
  type ScriptedUpstream,
  succeeded,
} from '../engines/pipeline.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { startCallbackReceiver } from '../engines/test-servers.ts'
import { useOpened } from '../engines/use-opened.ts'
import { REQUEST, requireReservation } from '../engines/video-jobs.ts'
import {
  createVideoMachine,
  readVideoMachine,
  type StateName,
  startExecutions,
  type VideoMachine,
} from '../engines/video-machine.ts'
import { p2Channel } from '../upstream/providers/provider-samples.ts'
import { openWirePipeline, startWireUpstream, type WireUpstream } from './wire-upstream.ts'

describe('execution bounds', () => {
  let engines: Engines
  let upstream: WireUpstream
  let http: UpstreamHttp
  beforeAll(async () => {
    engines = await startEngines()
    upstream = await startWireUpstream()
    http = createUpstreamHttp()
  })
  beforeEach(() => engines.reset())
  afterAll(async () => {
    http.close()
    await Promise.all([engines.close(), upstream.stop()])
  })

  const { States } = readVideoMachine()

  /** The pauses of a state's retries after this error, with the full jitter of the definition. */
  function* jitteredPauses(state: StateName, errorName: string, random: () => number) {
    const retrier = States[state]?.Retry?.find(({ ErrorEquals }) => ErrorEquals.includes(errorName))
    const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = 0, MaxAttempts = 0 } = retrier ?? {}
    for (let attempt = 0; attempt < MaxAttempts; attempt += 1) {
      yield random() * Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** attempt)
    }
  }

  describe('a function that Lambda throttles for five minutes', () => {
    const FIVE_MINUTES = 300
    const THROTTLED = 'Lambda.TooManyRequestsException'
    const retried: StateName[] = ['Submit', 'Poll', 'Store', 'Settle', 'Fail']

    it.each(retried)('is covered by the retries of %s, whatever their jitter', (state) => {
      const sums = Array.from({ length: 2000 }, (_, seed) =>
        [...jitteredPauses(state, THROTTLED, seededRandom(seed))].reduce((sum, pause) => sum + pause, 0),
      )
      expect(Math.min(...sums)).toBeGreaterThan(FIVE_MINUTES)
    })

    it('is retried until it runs, and no job fails', async () => {
      const pipeline = await engines.pipeline()
      pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
      const pauses = jitteredPauses('Poll', THROTTLED, seededRandom(1))
      let throttledFor = 0
      const Poll = async (step: () => Promise<unknown>) => {
        if (throttledFor >= FIVE_MINUTES) {
          return await step()
        }
        throttledFor += pauses.next().value ?? 0
        throw Object.assign(new Error('slow down'), { name: THROTTLED })
      }
      const machine = createVideoMachine(pipeline, { interpose: { Poll } })
      const job = await pipeline.create()
      await machine.run(job)
      expect(machine.visited.filter((state) => state === 'Poll').length).toBeGreaterThan(20)
      expect(machine.visited).not.toContain('Fail')
      expect((await pipeline.read(job)).status).toBe('succeeded')
      expect(await pipeline.leftovers(job)).toEqual([])
    })
  })

  describe('the history of an execution', () => {
    /** Step Functions ends an execution whose history grows beyond this. */
    const EVENTS_MAX = 25_000
    /** Entered and exited; a function is also scheduled, started and succeeded or failed. */
    const EVENTS_OF = new Map([
      ['Task', 5],
      ['Choice', 2],
      ['Wait', 2],
    ])
    const EVENTS_OF_A_RETRY = 3
    const HOURS_6 = 6 * 60 * 60

    /** Events of one round from a task through its choice and its wait back to a task. */
    function eventsOfRound(task: StateName, wait: string): number {
      const choice = States[task]?.Next ?? ''
      expect(States[choice]?.Choices?.map(({ Next }) => Next)).toContain(wait)
      return [task, choice, wait].reduce((sum, state) => sum + (EVENTS_OF.get(States[state]?.Type ?? '') ?? 0), 0)
    }

    /** Rounds of a job whose every wait is as short as chance can make it, until six hours are over. */
    function roundsOf(waitAfter: (elapsedSeconds: number) => number): number {
      let rounds = 0
      for (let elapsed = 0; elapsed < HOURS_6; elapsed += waitAfter(elapsed)) {
        rounds += 1
      }
      return rounds
    }

    it('has room for the longest queue, the longest deadline at the shortest poll interval, and an hour of store attempts', () => {
      const channel: VideoChannel = {
        ...p2Channel('http://127.0.0.1:9', 'direct'),
        deadline_minutes: HOURS_6 / 60,
        poll: { first_seconds: 1, interval_seconds: 1 },
      }
      const hasty = { early: 1, median: 1.01 }
      expect(firstPollWait(channel, 0, hasty)).toBe(1)
      const submits = roundsOf((waited) => channelWait(waited, 0))
      const polls = roundsOf((elapsedSeconds) =>
        nextPollWait({ channel, elapsedSeconds, openJobs: 0, random: 0, usual: hasty }),
      )
      const stores = States.Store?.Retry?.reduce((sum, { MaxAttempts = 0 }) => sum + MaxAttempts, 0) ?? 0
      const events =
        submits * eventsOfRound('Submit', 'WaitForChannel') +
        polls * eventsOfRound('Poll', 'WaitForUpstream') +
        stores * EVENTS_OF_A_RETRY
      expect(polls).toBeGreaterThan(600)
      expect(events).toBeLessThan(0.9 * EVENTS_MAX)
    })
  })

  describe('the state of an execution', () => {
    const HUGE = 'x'.repeat(900_000)
    const ACCEPTED = `{"id":"cgt-1","prompt":"${HUGE}"}`
    const video = () => `"content":{"video_url":"${engines.results.url('/video.mp4')}"}`

    it.each([
      ['succeeds', () => `{"id":"cgt-1","status":"succeeded",${video()},"prompt":"${HUGE}"}`, 'succeeded'],
      ['fails', () => `{"id":"cgt-1","status":"failed","error":{"message":"${HUGE}"}}`, 'failed'],
    ])(
      'holds only two ids and the next step, however large the replies of an upstream that %s',
      async (_, poll, status) => {
        upstream.play({ submits: [ACCEPTED], polls: [`{"id":"cgt-1","status":"running","prompt":"${HUGE}"}`, poll()] })
        const pipeline = await openWirePipeline(engines, { upstream, http })
        const left: unknown[] = []
        const keep = async (step: () => Promise<unknown>) => {
          try {
            const output = await step()
            left.push(output)
            return output
          } catch (error) {
            left.push({ error: error instanceof Error ? [error.name, error.message] : error })
            throw error
          }
        }
        const states: StateName[] = ['Submit', 'Poll', 'Store', 'Settle', 'Fail', 'Notify']
        const machine = createVideoMachine(pipeline, {
          interpose: Object.fromEntries(states.map((state) => [state, keep])),
        })
        const job = await pipeline.create()
        const execution = await machine.run(job)
        expect(execution).toMatchObject({
          status: 'SUCCEEDED',
          input: JSON.stringify({ tenantId: job.tenantId, jobId: job.jobId }),
        })
        expect((await pipeline.read(job)).status).toBe(status)
        expect(Math.max(...left.map((each) => JSON.stringify(each ?? null).length))).toBeLessThan(200)
      },
    )
  })
})

describe('upgrades', () => {
  const FIXTURES = new URL('../fixtures/definitions/', import.meta.url)
  const DEFINITIONS = readdirSync(FIXTURES)
    .filter((file) => file.endsWith('.asl.json'))
    .map((file) => file.replace('.asl.json', ''))
    .sort((left, right) => Number(left.match(/\d+/)) - Number(right.match(/\d+/)))
  const EARLIER = DEFINITIONS.slice(0, -1)

  const engines = useOpened(startEngines)
  beforeEach(() => engines.reset())

  /** One pixel, which every check of references refuses. */
  const TINY_IMAGE =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='

  /** The configuration of the new version, which looks at references. */
  async function openPipeline(): Promise<Pipeline> {
    const limits = { images: { formats: ['png' as const], short_side_min: 300 } }
    const models = testCatalogue().config.models.map((model) =>
      model.kind === 'video' ? { ...model, reference_limits: limits } : model,
    )
    const channels = { main: { reference_checks: true }, spare: { reference_checks: true } }
    const catalogue = testCatalogue({ trusted_origins: [engines.results.origin], models }, channels)
    const pipeline = await createPipeline({
      table: await engines.tables.fresh(),
      bucket: engines.bucket.bucket,
      catalogue,
    })
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), length: '5.0' }))
    return pipeline
  }

  type Script = ScriptedUpstream['script']

  const COURSES: readonly (readonly [course: string, ending: object, script: Partial<Script>])[] = [
    ['succeeds', { status: 'succeeded' }, {}],
    ['waits for a channel, and for its video', { status: 'succeeded' }, {}],
    [
      'is refused',
      { status: 'failed', error: 'bad prompt' },
      { submit: inTurn({ kind: 'rejected', message: 'bad prompt', text: '{}' }) },
    ],
    [
      'fails',
      { status: 'failed', error: 'no luck' },
      { poll: inTurn({ kind: 'failed', message: 'no luck', text: '{}' }) },
    ],
    [
      'is lost by its upstream',
      { status: 'failed', error: 'upstream lost the task' },
      { poll: inTurn<PollOutcome>({ kind: 'gone', reason: '404' }) },
    ],
    ['has no video', { status: 'failed', error: 'upstream result is not a video' }, { poll: inTurn(succeeded({})) }],
  ]

  ;(EARLIER.length === 0 ? () => undefined : describe.each(EARLIER))('an execution started under %s', (name) => {
    it.each(COURSES)('finishes with the current functions: a job that %s', async (course, ending, script) => {
      const pipeline = await openPipeline()
      Object.assign(pipeline.upstream.script, script)
      if (course.startsWith('waits')) {
        const busy: SubmitOutcome = { kind: 'busy', reason: '429', retryAfterSeconds: undefined }
        pipeline.upstream.script.submit = inTurn<SubmitOutcome>(busy, busy, accepted())
        const success = succeeded({ video_url: engines.results.url('/video.mp4'), length: '5.0' })
        pipeline.upstream.script.poll = inTurn(running(), running(), success)
      }
      const image_urls = name === 'video-job-v1' ? [TINY_IMAGE] : []
      const job = await pipeline.create({ request: { inline: JSON.stringify({ ...REQUEST, image_urls }) } })
      const machine = createVideoMachine(pipeline, { definition: readVideoMachine(name) })
      expect(await machine.run(job)).toMatchObject({ status: 'SUCCEEDED' })
      expect(await pipeline.read(job)).toMatchObject(ending)
      expect(await pipeline.leftovers(job)).toEqual([])
    })
  })

  type Interrupted = {
    /** Where the execution was, with what came before a comma. */
    readonly state: string
    readonly input: { readonly tenantId: string; readonly jobId: string; readonly next?: object }
    readonly nowSeconds: number
    readonly items: readonly Record<string, unknown>[]
  }

  /** Tables as the last version with that definition left them, one for each state that an execution may be in. */
  const INTERRUPTED: readonly (readonly [version: string, state: string, interrupted: Interrupted])[] = EARLIER.flatMap(
    (name) => {
      const cases: Interrupted[] = JSON.parse(readFileSync(new URL(`${name}.items.json`, FIXTURES), 'utf8'))
      return cases.map((each) => [name, each.state, each] as const)
    },
  )

  const TOO_SMALL = expect.stringContaining('image_urls[0]')

  const ENDINGS: Readonly<Record<string, readonly [visited: readonly StateName[], ending: object]>> = {
    Submit: [['Submit', 'Poll', 'Store', 'Settle', 'Notify'], { status: 'succeeded' }],
    'Submit, claimed': [['Submit', 'Submit', 'Fail', 'Notify'], { status: 'failed', error: 'submit outcome unknown' }],
    CheckReferences: [['CheckReferences', 'Fail', 'Notify'], { status: 'failed', error: TOO_SMALL }],
    WaitForChannel: [['Submit', 'Poll', 'Store', 'Settle', 'Notify'], { status: 'succeeded' }],
    WaitForUpstream: [['Poll', 'Store', 'Settle', 'Notify'], { status: 'succeeded' }],
    Store: [['Store', 'Settle', 'Notify'], { status: 'succeeded' }],
    Settle: [['Settle', 'Notify'], { status: 'succeeded' }],
    Fail: [['Fail', 'Notify'], { status: 'failed', error: 'bad prompt' }],
    Notify: [['Notify'], { status: 'succeeded' }],
  }

  /** Puts the table of that day into a new one, and sets the clock to that day. */
  async function reopen({ items, nowSeconds }: Interrupted): Promise<Pipeline> {
    const pipeline = await openPipeline()
    const { table } = pipeline.context
    const origin = 'http://results.example'
    for (const item of items) {
      const text = JSON.stringify(item).replaceAll(origin, engines.results.origin)
      await table.client.send(new PutCommand({ TableName: table.name, Item: JSON.parse(text) }))
    }
    pipeline.clock.milliseconds = nowSeconds * 1000
    return pipeline
  }

  describe('a deployment during open executions', () => {
    ;(INTERRUPTED.length === 0 ? () => undefined : it.each(INTERRUPTED))(
      'finishes an execution of %s in %s with a balanced ledger',
      async (name, place, interrupted) => {
        const pipeline = await reopen(interrupted)
        const { input } = interrupted
        const [state = ''] = place.split(',')
        const definition = { ...readVideoMachine(name), StartAt: state }
        const machine = createVideoMachine(pipeline, { definition })
        machine.engine.start(input.jobId, JSON.stringify(input))
        expect(await machine.engine.whenEnded(input.jobId)).toMatchObject({ status: 'SUCCEEDED' })
        const [visited, ending] = ENDINGS[place] ?? []
        expect(machine.visited).toEqual(visited)
        expect(await pipeline.read(input)).toMatchObject(ending ?? {})
        expect(await pipeline.leftovers(input)).toEqual([])
        expect(await verifyLedger(pipeline.context.table)).toEqual([])
      },
    )

    it('covers every state of an execution', () => {
      for (const name of EARLIER) {
        const waiting = Object.entries(readVideoMachine(name).States)
          .filter(([state, { Type }]) => ['Task', 'Wait'].includes(Type) && state !== 'Poll')
          .map(([state]) => state)
        const covered = INTERRUPTED.filter(([version]) => version === name).map(([, place]) => place.split(',')[0])
        expect([...new Set(covered)].sort()).toEqual(waiting.sort())
      }
    })
  })

  type Shape = ReturnType<typeof readVideoMachine>

  /** What an execution's course depends on, without times, retries and comments. */
  function shapeOf({ StartAt, States }: Shape) {
    const states = Object.entries(States).map(
      ([name, { Type, Next, Default, Choices, Parameters, ResultPath, Catch }]) => [
        name,
        { Type, Next, Default, Choices, Parameters, ResultPath, Catch: Catch?.map((each) => each.Next) },
      ],
    )
    return { StartAt, States: Object.fromEntries(states) }
  }

  describe('the deployed definition', () => {
    it('equals the newest recorded definition, so a change must record a new one and keep testing the old ones', () => {
      const newest = readVideoMachine(DEFINITIONS.at(-1))
      expect(shapeOf(readVideoMachine())).toEqual(shapeOf(newest))
    })
  })
})

describe('execution events', () => {
  let engines: Engines
  let executions: Awaited<ReturnType<typeof startExecutions>>
  let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
  let pipeline: Pipeline
  let deliver: Reconcile
  beforeAll(async () => {
    engines = await startEngines()
    executions = await startExecutions()
    receiver = await startCallbackReceiver()
    const config = { trusted_origins: [engines.results.origin], callback_allowlist: [receiver.origin] }
    pipeline = await engines.pipeline({ config })
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
    deliver = await openReconcile()
  })
  afterAll(async () => {
    await Promise.all([engines.close(), executions.close(), receiver.stop()])
  })

  type Reconcile = (event: object) => Promise<void>

  /** The deployed function over the pipeline's table, by the environment. Its clock is the real one. */
  async function openReconcile(): Promise<Reconcile> {
    const file = join(mkdtempSync(join(tmpdir(), 'reelgate-faults-')), 'gateway.json')
    writeFileSync(file, JSON.stringify(pipeline.context.catalogue.config))
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_DYNAMODB: engines.tables.endpoint,
      TABLE_NAME: pipeline.context.table.name,
      GATEWAY_CONFIG_FILE: file,
    })
    const { handler } = await import('#lambdas/pipeline/reconcile/handler.ts')
    return handler
  }

  type Job = { readonly tenantId: string; readonly jobId: string }

  /** What EventBridge delivers when an execution was aborted, and what the schedule delivers each minute. */
  const eventOf = ({ tenantId, jobId }: Job) => ({
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    detail: { name: jobId, status: 'ABORTED', input: JSON.stringify({ tenantId, jobId }) },
  })
  const MINUTE_EVENT = { source: 'aws.scheduler' }

  type Delivery = (event: object) => Promise<unknown>

  const DELIVERIES: readonly (readonly [string, Delivery])[] = [
    ['arrives once', (event) => deliver(event)],
    ['is lost and replaced by the schedule', () => deliver(MINUTE_EVENT)],
    ['arrives twice, one after the other', (event) => deliver(event).then(() => deliver(event))],
    ['arrives twice at once', (event) => Promise.all([deliver(event), deliver(event)])],
    ['arrives together with the schedule', (event) => Promise.all([deliver(event), deliver(MINUTE_EVENT)])],
  ]

  /** A job whose execution is aborted in its first poll, a minute ago and more. */
  async function breakExecution(name: string): Promise<{ job: Job; machine: VideoMachine }> {
    const createdAt = Math.trunc(Date.now() / 1000) - 120
    const job = await pipeline.create({ createdAt, callbackUrl: `${receiver.url}?${encodeURIComponent(name)}` })
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 1) {
        machine.engine.stop(job.jobId)
      }
      return await step()
    }
    const machine: VideoMachine = createVideoMachine(pipeline, { interpose: { Poll } })
    executions.use(machine)
    expect(await machine.run(job)).toMatchObject({ status: 'ABORTED' })
    return { job, machine }
  }

  it.each(DELIVERIES)('an event of a failed execution that %s leads to the same result', async (name, delivery) => {
    const { table } = pipeline.context
    const submitsBefore = pipeline.upstream.submitted.length
    const spentBefore = (await getTenant(table, pipeline.tenant.tenantId)).balance.spent
    const { job, machine } = await breakExecution(name)
    await delivery(eventOf(job))
    await machine.engine.whenEnded(`${job.jobId}-1`)
    const { balance } = await getTenant(table, pipeline.tenant.tenantId)
    expect({
      status: (await pipeline.read(job)).status,
      leftovers: await pipeline.leftovers(job),
      restarts: (await requireReservation(table, job)).restarts,
      executions: ['-1', '-2'].map((suffix) => machine.engine.find(job.jobId + suffix)?.status),
      submits: pipeline.upstream.submitted.length - submitsBefore,
      spent: formatCredits(microcredits(balance.spent - spentBefore)),
      callbacks: receiver.received.filter(({ body }) => body.includes(job.jobId)).length,
    }).toEqual({
      status: 'succeeded',
      leftovers: [],
      restarts: 1,
      executions: ['SUCCEEDED', undefined],
      submits: 1,
      spent: '0.42',
      callbacks: 1,
    })
  })
})
