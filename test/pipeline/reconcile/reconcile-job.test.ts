import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { PROCESS_ID } from '#store/relay-ledger/hold.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { openLeanTable } from '#store/table/lean-table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import { accepted, type Pipeline } from '../../engines/pipeline.ts'
import { type Recovery, startEngines, startRecovery } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { requireReservation } from '../../engines/video-jobs.ts'
import type { VideoMachine } from '../../engines/video-machine.ts'
import { openRelayingTenant, RELEASE, type RelayingTenant, settle } from '../../store/relay-ledger/relaying-tenant.ts'

describe('reconcile of one job', () => {
  const recovery = useOpened(startRecovery)
  let pipeline: Pipeline
  beforeEach(async () => {
    pipeline = await recovery.openPipeline()
  })

  const useMachine = (options?: Parameters<Recovery['useMachine']>[1]) => recovery.useMachine(pipeline, options)
  const reconcileAfter = (seconds: number) => recovery.reconcileAfter(pipeline, seconds)

  const broken = () => Promise.reject(new Error('broken'))
  const MINUTE = 60
  const TEN_MINUTES = 600

  it('starts an execution that was never started, after a minute, and the job succeeds', async () => {
    const machine = useMachine()
    const job = await pipeline.create()
    await reconcileAfter(MINUTE - 1)
    expect(machine.engine.find(job.jobId)).toBeUndefined()
    await reconcileAfter(1)
    await machine.engine.whenEnded(job.jobId)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(recovery.engines.counted()).toContain('execution_restarted')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('starts nothing beside an execution that runs, and looks again ten minutes later', async () => {
    const release = Promise.withResolvers<unknown>()
    const machine = useMachine({ interpose: { Submit: () => release.promise } })
    const job = await pipeline.create()
    const ended = machine.run(job)
    await reconcileAfter(MINUTE)
    await reconcileAfter(MINUTE)
    expect(recovery.engines.counted()).not.toContain('execution_restarted')
    expect(machine.visited).toEqual(['Submit'])
    release.resolve({ step: 'done' })
    await ended
    await reconcileAfter(TEN_MINUTES)
    expect(machine.engine.find(`${job.jobId}-1`)).toBeDefined()
    await machine.engine.whenEnded(`${job.jobId}-1`)
  })

  it('replaces a broken execution three times, by number, then ends the job and gives its money back', async () => {
    const machine = useMachine({ interpose: { Submit: broken, Fail: broken } })
    const job = await pipeline.create()
    await machine.run(job)
    for (const restart of [1, 2, 3]) {
      await reconcileAfter(TEN_MINUTES)
      expect(await machine.engine.whenEnded(`${job.jobId}-${restart}`)).toMatchObject({ status: 'FAILED' })
      expect((await requireReservation(pipeline.context.table, job)).restarts).toBe(restart)
    }
    await reconcileAfter(TEN_MINUTES)
    expect(machine.engine.find(`${job.jobId}-4`)).toBeUndefined()
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'internal error' })
    expect(recovery.engines.counted()).toContain('internal_failure')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('replaces an execution that ended well and left its reservation open', async () => {
    const machine = useMachine({
      interpose: { Submit: async (step, visit) => (visit === 1 ? { step: 'done' } : await step()) },
    })
    const job = await pipeline.create()
    await machine.run(job)
    await reconcileAfter(MINUTE)
    await machine.engine.whenEnded(`${job.jobId}-1`)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it.each(['Submit', 'Poll', 'Store', 'Settle'] as const)(
    'finishes a job whose execution was stopped in %s',
    async (state) => {
      const finished = Promise.withResolvers<void>()
      const stopIn = async (step: () => Promise<unknown>, visit: number) => {
        if (visit > 1) {
          return await step()
        }
        machine.engine.stop(job.jobId)
        // As on AWS, the function that was invoked last runs to its end; nobody hears its answer.
        await step()
        finished.resolve()
        return { step: 'done' }
      }
      const machine: VideoMachine = useMachine({ interpose: { [state]: stopIn } })
      const job = await pipeline.create()
      expect(await machine.run(job)).toMatchObject({ status: 'ABORTED' })
      await finished.promise
      await reconcileAfter(MINUTE)
      await machine.engine.whenEnded(`${job.jobId}-1`)
      expect(pipeline.upstream.submitted).toHaveLength(1)
      expect((await pipeline.read(job)).status).toBe('succeeded')
      expect(await pipeline.leftovers(job)).toEqual([])
    },
  )

  it('never posts a job again whose submit was claimed by an execution that is gone', async () => {
    pipeline.upstream.script.submit = () => accepted()
    const machine = useMachine()
    const job = await pipeline.create()
    await claimSubmit(pipeline.context.table, {
      job,
      channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
      nowSeconds: job.createdAt,
    })
    await reconcileAfter(MINUTE)
    await machine.engine.whenEnded(job.jobId)
    expect(pipeline.upstream.submitted).toEqual([])
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'submit outcome unknown' })
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('ends a job that is overdue, whatever its execution says', async () => {
    const release = Promise.withResolvers<unknown>()
    const machine = useMachine({ interpose: { Submit: () => release.promise } })
    const job = await pipeline.create()
    const ended = machine.run(job)
    await reconcileAfter(14 * 60 * MINUTE)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'generation timed out' })
    expect(await pipeline.leftovers(job)).toEqual([])
    release.resolve({ step: 'done' })
    await ended
  })

  it.each([
    ['starts an execution for the callback of a job that it ends', false],
    ['starts none for the callback of a job that it ends and that its client has deleted', true],
  ])('%s', async (_, isDeleted) => {
    const machine = useMachine({ interpose: { Submit: async () => ({ step: 'done' }) } })
    const job = await pipeline.create({ callbackUrl: 'https://hooks.example/' })
    if (isDeleted) {
      await pipeline.remove(job)
    }
    await reconcileAfter(14 * 60 * MINUTE)
    expect((await pipeline.read(job)).status).toBe('failed')
    expect(machine.engine.find(`${job.jobId}-1`) !== undefined).toBe(!isDeleted)
  })

  it('does everything once when it runs twice at the same time', async () => {
    const machine = useMachine({ interpose: { Submit: broken, Fail: broken } })
    const job = await pipeline.create()
    await machine.run(job)
    pipeline.clock.advance(MINUTE)
    await Promise.all([reconcile(pipeline.context, { all: false }), reconcile(pipeline.context, { all: false })])
    await machine.engine.whenEnded(`${job.jobId}-1`)
    expect((await requireReservation(pipeline.context.table, job)).restarts).toBe(1)
    expect(machine.engine.find(`${job.jobId}-2`)).toBeUndefined()
  })
})

describe('reconcile of lapsed holds:', () => {
  const before = { ...process.env }
  const engines = useOpened(startEngines)
  let pipeline: Pipeline
  let tenant: RelayingTenant
  let ledger: RelayLedger
  beforeEach(async () => {
    engines.reset()
    pipeline = await engines.pipeline()
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: engines.tables.endpoint,
      TABLE_NAME: pipeline.context.table.name,
    })
    ledger = openLedger()
    tenant = await openRelayingTenant(pipeline.context.table, '10')
  })
  afterAll(async () => {
    process.env = before
  })

  /** A process of its own. */
  const openLedger = () => new RelayLedger(openLeanTable(), { clock: pipeline.context })

  /** Sixteen minutes: a minute more than any function lives. */
  const LIFETIME_MILLISECONDS = 960_000

  async function open(credits = '1', reservedAt = pipeline.clock.milliseconds) {
    const request = tenant.request(credits, { reservedAt })
    await ledger.reserve(request)
    return request
  }

  async function reconcileAfter(milliseconds: number, options: Partial<Parameters<typeof reconcile>[1]> = {}) {
    pipeline.clock.advance(milliseconds / 1000)
    await reconcile(pipeline.context, { all: false, ...options })
  }

  const expired = () => engines.counted().filter((fact) => fact === 'reservation_expired').length
  const holds = async () =>
    (await readPartition(pipeline.context.table, `T#${tenant.tenantId}`)).filter(({ SK }) =>
      String(SK).startsWith('PROC#'),
    )
  const rows = async () =>
    (await readPartition(pipeline.context.table, `L#${tenant.tenantId}`)).filter(({ kind }) => kind !== 'grant')

  describe('the reservation of a request that nobody settled', () => {
    it('is given back sixteen minutes after it was made and not a moment before, and is counted', async () => {
      const request = await open()
      await reconcileAfter(LIFETIME_MILLISECONDS - 1)
      expect(await tenant.balance()).toEqual(['9', '1', '0'])
      await reconcileAfter(1)
      expect(await tenant.balance()).toEqual(['10', '0', '0'])
      expect(await rows()).toMatchObject([{ kind: 'release', job: request.requestId, reservedAt: request.reservedAt }])
      expect(expired()).toBe(1)
      await reconcileAfter(60_000)
      expect(expired()).toBe(1)
      expect(await auditTenant(pipeline.context.table, tenant.tenantId)).toEqual([])
    })

    it('is not billed by a settlement that comes after, which is counted as a conflict', async () => {
      const request = await open()
      await reconcileAfter(LIFETIME_MILLISECONDS)
      expect(await ledger.resolve(request, settle('0.5'))).toBe('already_resolved')
      expect(await tenant.balance()).toEqual(['10', '0', '0'])
      expect(engines.counted()).toEqual(['reservation_expired', 'resolution_conflict'])
    })

    it('is either billed or given back when both come at once', async () => {
      const requests = await Promise.all(Array.from({ length: 8 }, () => open('1')))
      const run = reconcileAfter(LIFETIME_MILLISECONDS)
      const outcomes = await Promise.all(requests.map((request) => ledger.resolve(request, settle('1'))))
      await run
      const billed = outcomes.filter((outcome) => outcome === 'resolved').length
      expect(expired()).toBe(8 - billed)
      expect(await tenant.balance()).toEqual([String(10 - billed), '0', String(billed)])
      expect(await auditTenant(pipeline.context.table, tenant.tenantId)).toEqual([])
    })

    it('that was settled in time is left alone', async () => {
      const request = await open()
      await ledger.resolve(request, settle('0.5'))
      await reconcileAfter(LIFETIME_MILLISECONDS)
      expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
      expect(engines.counted()).toEqual([])
    })

    it('is given back with all others of a crash, whatever stands beside them', async () => {
      await Promise.all(Array.from({ length: 60 }, () => open('0.1')))
      const { table } = pipeline.context
      const spoiled = { ...tableKeys.relayHold(tenant.tenantId, 'spoiled'), GSI1PK: 'PROC', GSI1SK: '0' }
      await table.client.send(new PutCommand({ TableName: table.name, Item: spoiled }))
      await reconcileAfter(LIFETIME_MILLISECONDS)
      expect(await tenant.balance()).toEqual(['10', '0', '0'])
      expect(expired()).toBe(60)
    })

    it('is kept while later requests renew the hold of its process, and given back with the last of them', async () => {
      const first = await open()
      await reconcileAfter(LIFETIME_MILLISECONDS / 2)
      const second = await open('2')
      await reconcileAfter(LIFETIME_MILLISECONDS / 2)
      expect(await tenant.balance()).toEqual(['7', '3', '0'])
      await reconcileAfter(LIFETIME_MILLISECONDS / 2)
      expect(await tenant.balance()).toEqual(['10', '0', '0'])
      expect((await rows()).map(({ job }) => job).toSorted()).toEqual([first.requestId, second.requestId].toSorted())
    })

    it('is given back once by runs that overlap', async () => {
      await Promise.all([open(), open(), open()])
      pipeline.clock.advance(LIFETIME_MILLISECONDS / 1000)
      await Promise.all([1, 2].map(() => reconcile(pipeline.context, { all: false })))
      expect(await tenant.balance()).toEqual(['10', '0', '0'])
      expect(expired()).toBe(3)
      expect(await rows()).toHaveLength(3)
    })
  })

  describe('a process that was paused for twenty minutes', () => {
    const pauseAndReconcile = () => reconcileAfter(20 * 60_000)

    it('finds its requests given back, and makes the next reservation in a new hold', async () => {
      const [first, second] = await Promise.all([open(), open('2')])
      await pauseAndReconcile()
      const [late, next] = await Promise.all([ledger.resolve(first, settle('0.5')), open('3')])
      expect(late).toBe('already_resolved')
      expect(await tenant.balance()).toEqual(['7', '3', '0'])
      expect(await ledger.resolve(second, RELEASE)).toBe('already_resolved')
      expect(await ledger.resolve(next, settle('1'))).toBe('resolved')
      expect(await tenant.balance()).toEqual(['9', '0', '1'])
      expect(engines.counted().filter((fact) => fact === 'resolution_conflict')).toHaveLength(1)
      expect(await auditTenant(pipeline.context.table, tenant.tenantId)).toEqual([])
    })

    it('finds a request given back that its hold did not name', async () => {
      const requests = await Promise.all(Array.from({ length: 30 }, () => open('0.1')))
      await pauseAndReconcile()
      expect((await rows()).at(-1)).toMatchObject({ kind: 'release' })
      const outcomes = await Promise.all(requests.map((request) => ledger.resolve(request, settle('0.1'))))
      expect(new Set(outcomes)).toEqual(new Set(['already_resolved']))
      expect(engines.counted().filter((fact) => fact === 'resolution_conflict')).toHaveLength(30)
      expect(await tenant.balance()).toEqual(['10', '0', '0'])
    })

    it('settles what was open if Reconcile did not run meanwhile, and then reserves in the same hold', async () => {
      const request = await open()
      pipeline.clock.advance(20 * 60)
      const [late, next] = await Promise.all([ledger.resolve(request, settle('0.5')), open('3')])
      expect(late).toBe('resolved')
      expect(await ledger.resolve(next, settle('1'))).toBe('resolved')
      expect(await tenant.balance()).toEqual(['8.5', '0', '1.5'])
      expect(await holds()).toHaveLength(1)
    })

    it('begins a new hold at once if nothing was open, and Reconcile deletes the old one without a trace', async () => {
      await ledger.resolve(await open(), settle('0.5'))
      pipeline.clock.advance(20 * 60)
      await open('2')
      expect(await holds()).toHaveLength(2)
      await reconcileAfter(0)
      expect(await holds()).toMatchObject([{ requests: 1 }])
      expect(await rows()).toHaveLength(1)
      expect(engines.counted()).toEqual([])
    })
  })

  describe('a local host', () => {
    it('gives back at its start what earlier processes held', async () => {
      const old = await open()
      await reconcileAfter(0, { all: true, livingProcessId: 'another-one' })
      expect(await tenant.balance()).toEqual(['10', '0', '0'])
      expect(await ledger.resolve(old, RELEASE)).toBe('already_resolved')
    })

    it.each([
      ['twenty minutes ahead', 20 * 60_000],
      ['twenty minutes back', -20 * 60_000],
    ])('bills its open requests after its clock jumped %s', async (_, milliseconds) => {
      const first = await open()
      for (const all of [true, false]) {
        await reconcileAfter(milliseconds, { all, livingProcessId: PROCESS_ID })
        await ledger.resolve(await open('2'), settle('1'))
      }
      expect(await ledger.resolve(first, settle('0.5'))).toBe('resolved')
      expect(await tenant.balance()).toEqual(['7.5', '0', '2.5'])
      expect(engines.counted()).toEqual([])
      expect(await auditTenant(pipeline.context.table, tenant.tenantId)).toEqual([])
    })

    it('deletes a hold of its own in which nothing is open', async () => {
      await ledger.resolve(await open(), settle('1'))
      await reconcileAfter(LIFETIME_MILLISECONDS, { livingProcessId: PROCESS_ID })
      expect(await holds()).toEqual([])
    })
  })

  it('gives back nothing but what is due to whoever does not say that it is the only process', async () => {
    await open('1', pipeline.clock.milliseconds - 60_000)
    await reconcileAfter(0, { all: true })
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
  })
})
