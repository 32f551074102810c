import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { ChannelChange, ModelChange } from '#core/catalogue/switches.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { openSubmitContext } from '#lambdas/pipeline/submit-video-job/submit-video-job.ts'
import { loadText } from '#store/bucket/bucket.ts'
import { CurrentCatalogue } from '#store/current-catalogue.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { changeSwitchesTogether } from '#store/switches.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { SubmitOutcome } from '#upstream/providers/video-account.ts'
import { accepted, inTurn, type Pipeline, succeeded } from '../../engines/pipeline.ts'
import { startEngines } from '../../engines/start-engines.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'
import { breakConnection } from '../../engines/test-table.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { createVideoMachine } from '../../engines/video-machine.ts'

describe('the Submit step: a submit', () => {
  const engines = useOpened(startEngines)
  beforeEach(() => engines.reset())

  const busy = (retryAfterSeconds?: number): SubmitOutcome => ({ kind: 'busy', reason: '429', retryAfterSeconds })
  const channelRefused: SubmitOutcome = { kind: 'channel_refused', reason: '401', code: 'upstream_auth' }
  const unreachable: SubmitOutcome = { kind: 'unreachable', reason: 'connection refused' }
  const unknown: SubmitOutcome = { kind: 'unknown', reason: 'timeout' }

  /** A pipeline whose upstream answers the submits one after the other and succeeds at the first poll. */
  async function pipelineWith(...submits: SubmitOutcome[]): Promise<Pipeline> {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.submit = inTurn(...submits)
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4') }))
    return pipeline
  }

  async function setOpenJobs({ context }: Pipeline, channelId: string, open: number): Promise<void> {
    await context.table.client.send(
      new UpdateCommand({
        TableName: context.table.name,
        Key: tableKeys.channel(channelId),
        UpdateExpression: 'SET #open = :open, version = :one',
        ExpressionAttributeNames: { '#open': 'open' },
        ExpressionAttributeValues: { ':open': open, ':one': 1 },
      }),
    )
  }

  /** The first visit does its work and its answer never arrives. */
  function lostReply() {
    return async (step: () => Promise<unknown>, visit: number) => {
      const output = await step()
      if (visit === 1) {
        throw new ServiceUnavailableError()
      }
      return output
    }
  }

  it('that the upstream refuses fails the job with the upstream words and its reply, released', async () => {
    const pipeline = await pipelineWith({ kind: 'rejected', message: 'bad prompt', text: '{"code":"bad","n":1.0}' })
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    const record = await pipeline.read(job)
    expect(machine.visited).toEqual(['Submit', 'Fail', 'Notify'])
    expect(record).toMatchObject({ status: 'failed', error: 'bad prompt', submitText: undefined })
    expect(await loadText(pipeline.context.openBucket, record.pollText)).toBe('{"code":"bad","n":1.0}')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('goes to the next channel when the first one refuses the account', async () => {
    const pipeline = await pipelineWith(channelRefused, accepted())
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main', 'spare'])
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', channelId: 'spare' })
    expect(engines.counted()).toContain('channel_refused')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('goes to the next channel when the credential of the first one cannot be read, without a claim', async () => {
    const pipeline = await pipelineWith(accepted())
    pipeline.upstream.closed.add('main')
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(pipeline.upstream.submitted).toEqual(['spare'])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('fails the job with "no upstream capacity" when every channel refuses the account', async () => {
    const pipeline = await pipelineWith(channelRefused)
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', 'Fail', 'Notify'])
    expect(pipeline.upstream.submitted).toEqual(['main', 'spare'])
    expect(await pipeline.read(job)).toMatchObject({
      status: 'failed',
      error: 'no upstream capacity',
      // For operators, as the log has it.
      failureCause: 'main: 401; spare: 401',
      // For the client, without the channels.
      errorCode: 'upstream_auth',
    })
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it.each([
    [
      'an account without money before a busy one',
      { ...channelRefused, code: 'upstream_quota' },
      busy(),
      'upstream_quota',
    ],
    ['an upstream out of reach after a refused key', channelRefused, unreachable, 'upstream_unavailable'],
  ] as const)('tells the client of %s when its time in the queue is over', async (_, main, spare, errorCode) => {
    const pipeline = await pipelineWith()
    pipeline.upstream.script.submit = (channelId) => (channelId === 'main' ? main : spare)
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.read(job)).toMatchObject({ error: 'no upstream capacity', errorCode })
  })

  it.each([
    ['busy', busy()],
    ['out of reach', unreachable],
  ])('is tried again, over the other channel too, while channels are %s, and accepted once', async (_, outcome) => {
    const pipeline = await pipelineWith(outcome, outcome, outcome, accepted())
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main', 'spare', 'main', 'spare'])
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('goes on to the next channel with another visit when the refusal of the first one took too long', async () => {
    const pipeline = await pipelineWith(accepted())
    pipeline.upstream.script.submit = (channelId, attempt) => {
      pipeline.clock.advance(attempt === 1 ? 9 : 0)
      return channelId === 'main' ? channelRefused : accepted()
    }
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main', 'main', 'spare'])
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('obeys the Retry-After of a busy upstream, up to five minutes', async () => {
    const pipeline = await engines.pipeline({ channels: { spare: { models: {} } } })
    pipeline.upstream.script.submit = inTurn(busy(90), busy(9_999), accepted())
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    const waits: number[] = []
    const Submit = async (step: () => Promise<unknown>) => {
      waits.push(pipeline.clock.seconds - start)
      return await step()
    }
    const Poll = async () => ({ step: 'done' })
    await createVideoMachine(pipeline, { interpose: { Submit, Poll } }).run(job)
    expect(waits).toEqual([0, 90, 390])
  })

  it.each([
    [200, 60],
    [60, 200],
  ])('is tried again as soon as the first of two busy channels wants it (%i s and %i s)', async (main, spare) => {
    const pipeline = await pipelineWith(busy(main), busy(spare), accepted())
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    const Poll = async () => ({ step: 'done' })
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main', 'spare', 'main'])
    const { submittedAt = start } = await pipeline.read(job)
    expect(submittedAt - start).toBe(60)
  })

  it('asks a busy upstream no sooner than by its own rhythm, whatever Retry-After says', async () => {
    const pipeline = await engines.pipeline({ channels: { spare: { models: {} } } })
    pipeline.upstream.script.submit = inTurn(busy(1), accepted())
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    const Poll = async () => ({ step: 'done' })
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    const { submittedAt = start } = await pipeline.read(job)
    expect(submittedAt - start).toBeGreaterThanOrEqual(4)
  })

  it('waits, queued, while every channel is full, and goes through when a slot is free', async () => {
    const pipeline = await pipelineWith(accepted())
    await setOpenJobs(pipeline, 'main', 100)
    await setOpenJobs(pipeline, 'spare', 100)
    const job = await pipeline.create()
    const states: unknown[] = []
    const Submit = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 3) {
        states.push(await pipeline.read(job))
        await setOpenJobs(pipeline, 'main', 0)
        await setOpenJobs(pipeline, 'spare', 0)
      }
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Submit } }).run(job)
    expect(states).toMatchObject([
      {
        status: 'queued',
        isWaitingForChannel: true,
        submitState: undefined,
        failureCause: 'main: has max_open_jobs open; spare: has max_open_jobs open',
      },
    ])
    expect((await pipeline.read(job)).failureCause).toBeUndefined()
    expect(pipeline.upstream.submitted).toEqual(['main'])
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('fails the job with "no upstream capacity" when no channel took it within the queue time', async () => {
    const pipeline = await pipelineWith(busy())
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.read(job)).toMatchObject({
      status: 'failed',
      error: 'no upstream capacity',
      errorCode: 'upstream_rate_limited',
    })
    expect(pipeline.clock.seconds - start).toBeGreaterThanOrEqual(60 * 60)
    expect(pipeline.clock.seconds - start).toBeLessThan(61 * 60)
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('whose outcome is unknown is never posted again: the job fails, released, counted as an orphan', async () => {
    const pipeline = await pipelineWith(unknown, accepted())
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main'])
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'submit outcome unknown' })
    expect(engines.counted()).toContain('upstream_orphan')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('claimed by a function that died is not posted: the job fails once the claim cannot be in flight any more', async () => {
    const pipeline = await pipelineWith(accepted())
    const job = await pipeline.create()
    const { clock, context } = pipeline
    const [channel] = context.catalogue.videoChannels(job.model, { directOnly: false })
    const claimedAt = clock.seconds
    const claimed = { id: channel?.id ?? '', max_open_jobs: 1, provider: 'p2' as const }
    expect(await claimSubmit(context.table, { job, channel: claimed, nowSeconds: claimedAt })).toBe('claimed')
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', 'Submit', 'Fail', 'Notify'])
    expect(pipeline.upstream.submitted).toEqual([])
    expect(clock.seconds - claimedAt).toBe(45)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'submit outcome unknown' })
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that died after the upstream accepted is not posted again', async () => {
    const pipeline = await pipelineWith(accepted())
    pipeline.upstream.script.submit = () => Promise.reject(new Error('the process died'))
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main'])
    expect((await pipeline.read(job)).status).toBe('failed')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that was recorded and whose reply was lost goes on with the same task', async () => {
    const pipeline = await pipelineWith(accepted())
    const job = await pipeline.create()
    const Submit = lostReply()
    const machine = createVideoMachine(pipeline, { interpose: { Submit } })
    await machine.run(job)
    expect(machine.visited.slice(0, 3)).toEqual(['Submit', 'Submit', 'Poll'])
    expect(pipeline.upstream.submitted).toEqual(['main'])
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('whose acceptance was recorded although the table did not say so goes on with that task, uncancelled', async () => {
    const pipeline = await pipelineWith(accepted())
    const { left } = breakConnection(pipeline.context.table, ':acceptedAt')
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(left()).toBe(0)
    expect(pipeline.upstream.cancelled).toEqual([])
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(engines.counted()).not.toContain('upstream_orphan')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that was refused and whose failure was lost on the way still fails with the upstream words', async () => {
    const pipeline = await pipelineWith({ kind: 'rejected', message: 'bad prompt', text: '{}' })
    const job = await pipeline.create()
    const Submit = async (step: () => Promise<unknown>, visit: number) => {
      const result = step()
      return visit === 1 ? await result.catch(() => Promise.reject(new ServiceUnavailableError())) : await result
    }
    await createVideoMachine(pipeline, { interpose: { Submit } }).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main'])
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'bad prompt' })
    expect(engines.counted()).not.toContain('upstream_orphan')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('accepted for a job that was ended meanwhile is cancelled upstream, and the execution ends', async () => {
    const pipeline = await pipelineWith(accepted())
    const job = await pipeline.create()
    pipeline.upstream.script.submit = async () => {
      await createVideoMachine(pipeline, {
        interpose: { Submit: () => Promise.reject(new Error('ended by somebody else')) },
      }).run(job)
      return accepted()
    }
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', 'Notify'])
    expect(pipeline.upstream.cancelled).toEqual(['task-1'])
    expect(engines.counted()).toContain('upstream_orphan')
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})

describe('the Submit step under switches:', () => {
  const engines = useOpened(startEngines)
  beforeEach(() => engines.reset())

  /** A pipeline whose Submit reads the switches by the clock of the test. */
  async function switchedPipeline() {
    const pipeline = await engines.pipeline()
    const { table, catalogue } = pipeline.context
    const currentCatalogue = new CurrentCatalogue({ table, catalogue, clock: pipeline.context })
    pipeline.upstream.script.submit = inTurn(accepted())
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4') }))
    return { ...pipeline, context: { ...pipeline.context, currentCatalogue } }
  }

  const change = ({ context }: Pipeline, asked: ChannelChange | ModelChange) =>
    changeSwitchesTogether(context.table, [asked], { actor: { name: 'operator', role: 'operator' }, at: 1 })
  const disable = (pipeline: Pipeline, id: string) => change(pipeline, { kind: 'channel', id, action: 'disable' })

  describe('a disabled channel', () => {
    it('gets no new job, and its open job is polled, stored and settled', async () => {
      const pipeline = await switchedPipeline()
      const open = await pipeline.create()
      let later: Awaited<ReturnType<Pipeline['create']>> | undefined
      const Poll = async (step: () => Promise<unknown>, visit: number) => {
        if (visit === 1) {
          await disable(pipeline, 'main')
          pipeline.clock.advance(15)
          later = await pipeline.create()
          await createVideoMachine(pipeline).run(later)
        }
        return await step()
      }
      await createVideoMachine(pipeline, { interpose: { Poll } }).run(open)
      expect(pipeline.upstream.submitted).toEqual(['main', 'spare'])
      expect(await pipeline.read(open)).toMatchObject({ status: 'succeeded', channelId: 'main' })
      expect(later && (await pipeline.read(later))).toMatchObject({ status: 'succeeded', channelId: 'spare' })
      expect(await pipeline.spent()).toBe('0.84')
      expect(await pipeline.leftovers(open)).toEqual([])
    })

    it('is not given a job that was on its way to it when the switches became 15 seconds old', async () => {
      const pipeline = await switchedPipeline()
      const { openAccount } = pipeline.context
      let isFirst = true
      const context = {
        ...pipeline.context,
        openAccount: async (...parameters: Parameters<typeof openAccount>) => {
          if (isFirst) {
            isFirst = false
            await disable(pipeline, 'main')
            pipeline.clock.advance(15)
          }
          return await openAccount(...parameters)
        },
      }
      const job = await pipeline.create()
      await createVideoMachine({ ...pipeline, context }).run(job)
      expect(pipeline.upstream.submitted).toEqual(['spare'])
      expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded' })
    })
  })

  describe('a job all of whose channels are disabled', () => {
    it('waits, queued, and goes on when a channel is enabled', async () => {
      const pipeline = await switchedPipeline()
      await disable(pipeline, 'main')
      await disable(pipeline, 'spare')
      const job = await pipeline.create()
      const states: unknown[] = []
      const Submit = async (step: () => Promise<unknown>, visit: number) => {
        if (visit === 3) {
          states.push(await pipeline.read(job))
          await change(pipeline, { kind: 'channel', id: 'spare', action: 'enable' })
        }
        return await step()
      }
      await createVideoMachine(pipeline, { interpose: { Submit } }).run(job)
      expect(states).toMatchObject([
        {
          status: 'queued',
          isWaitingForChannel: true,
          submitState: undefined,
          failureCause: 'main: is disabled; spare: is disabled',
        },
      ])
      const record = await pipeline.read(job)
      expect(record).toMatchObject({ status: 'succeeded', channelId: 'spare' })
      expect(record.failureCause).toBeUndefined()
      expect(await pipeline.leftovers(job)).toEqual([])
    })

    it('fails with "no upstream capacity" after the queue time, released', async () => {
      const pipeline = await switchedPipeline()
      await disable(pipeline, 'main')
      await disable(pipeline, 'spare')
      const job = await pipeline.create()
      const start = pipeline.clock.seconds
      await createVideoMachine(pipeline).run(job)
      expect(await pipeline.read(job)).toMatchObject({
        error: 'no upstream capacity',
        errorCode: 'no_channel_available',
      })
      expect(pipeline.clock.seconds - start).toBeGreaterThanOrEqual(60 * 60)
      expect(pipeline.upstream.submitted).toEqual([])
      expect(await pipeline.spent()).toBe('0')
      expect(await pipeline.leftovers(job)).toEqual([])
    })
  })

  describe('a job offered to channels', () => {
    it('follows the priorities that an operator set', async () => {
      const pipeline = await switchedPipeline()
      await change(pipeline, { kind: 'channel', id: 'main', action: 'priority', value: 9 })
      await createVideoMachine(pipeline).run(await pipeline.create())
      expect(pipeline.upstream.submitted).toEqual(['spare'])
    })

    it('goes on when its model was disabled after the create', async () => {
      const pipeline = await switchedPipeline()
      const job = await pipeline.create()
      await change(pipeline, { kind: 'model', id: PER_SECOND_MODEL, action: 'disable' })
      await createVideoMachine(pipeline).run(job)
      expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', channelId: 'main' })
    })
  })
})

describe('openSubmitContext', () => {
  const engine = useTestTable()
  let directory: string
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'reelgate-submit-'))
    const file = join(directory, 'gateway.json')
    writeFileSync(file, JSON.stringify(testCatalogue().config))
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
      TABLE_NAME: engine.table.name,
      GATEWAY_CONFIG_FILE: file,
    })
  })
  afterAll(async () => {
    rmSync(directory, { recursive: true })
  })

  it('has the configured catalogue, and the one under the switches in the table', async () => {
    await changeSwitchesTogether(engine.table, [{ kind: 'channel', id: 'main', action: 'disable' }], {
      actor: { name: 'operator', role: 'operator' },
      at: 1,
    })
    const { catalogue, currentCatalogue } = openSubmitContext()
    const current = await currentCatalogue.read()
    const idsOf = (found: typeof catalogue) =>
      found.videoChannels(PER_SECOND_MODEL, { directOnly: false }).map(({ id }) => id)
    expect([idsOf(catalogue), idsOf(current)]).toEqual([['main', 'spare'], ['spare']])
  })
})
