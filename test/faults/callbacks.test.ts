import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import { createUrlSigner } from '#platform/cdn/video-urls.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { claimCallback } from '#store/jobs/callback-claims.ts'
import { inTurn, type Pipeline, succeeded } from '../engines/pipeline.ts'
import { startEngines } from '../engines/start-engines.ts'
import { breakConnection } from '../engines/test-table.ts'
import { useOpened } from '../engines/use-opened.ts'
import { createVideoMachine, type VideoMachine } from '../engines/video-machine.ts'
import { type Loopback, listenHttp, listenTcp } from '../platform/http/loopback.ts'
import { misbehave } from '../upstream/guard/misbehaving-servers.ts'
import { startTcpProxy } from './faulty-connections.ts'
import { hurried } from './hurried-time.ts'

/** So fast the shipped limit passes: 15 s in 1.5 s. */
const HURRY = 10

const engines = useOpened(startEngines)
const servers: Loopback[] = []
beforeEach(() => engines.reset())
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const signUrl = createUrlSigner({ baseUrl: 'https://cdn.example', keyPairId: 'K1', privateKeyPem })

/** The state Notify by itself. */
function notify(job: NewVideoJob, { context }: Pipeline): Promise<void> {
  return sendJobCallback(job, { ...context, openUrlSigner: async () => signUrl })
}

/** Receivers that do not take a callback well, and what becomes of it. */
const RECEIVERS: readonly (readonly [string, 'delivered' | 'failed', () => Promise<Loopback>])[] = [
  ['returns 500', 'failed', () => listenHttp((_request, response) => response.writeHead(500).end())],
  [
    'redirects with 301',
    'failed',
    () => listenHttp((_request, response) => response.writeHead(301, { location: 'http://127.0.0.1:9/' }).end()),
  ],
  ['hangs for longer than 15 s', 'failed', () => misbehave('silence')],
  ['returns a gigabyte', 'delivered', () => misbehave('a body of a gigabyte')],
  ['switches protocols', 'failed', () => misbehave('a change of protocol')],
  [
    'resets after the request',
    'failed',
    () => listenTcp((socket) => socket.once('data', () => socket.resetAndDestroy())),
  ],
  ['resets at the connection', 'failed', () => listenTcp((socket) => socket.resetAndDestroy())],
]

type Ended = { readonly pipeline: Pipeline; readonly job: NewVideoJob; readonly machine: VideoMachine }

/** Runs a whole job whose callback goes to this server. */
async function runJob({ origin }: Loopback, interpose = {}): Promise<Ended> {
  const pipeline = await engines.pipeline({ config: { callback_allowlist: [origin] } })
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
  const job = await pipeline.create({ callbackUrl: `${origin}/cb` })
  const machine = createVideoMachine(pipeline, { interpose })
  await machine.run(job)
  return { pipeline, job, machine }
}

async function expectSettled({ pipeline, job }: Ended): Promise<void> {
  expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', callbackState: 'sent' })
  expect(await pipeline.leftovers(job)).toEqual([])
}

describe('callback receivers', () => {
  it.each(RECEIVERS)(
    'a receiver that %s gets exactly one attempt (%s), and the job is unaffected',
    async (_, outcome, start) => {
      const server = await start()
      servers.push(server)
      // The limits of the other steps are not hurried, because a busy machine needs its time for them.
      const ended = await runJob(server, { Notify: (step: () => Promise<unknown>) => hurried(HURRY, step) })
      await server.allClosed()
      expect(ended.machine.visited.filter((state) => state === 'Notify')).toHaveLength(1)
      expect(engines.counted().filter((fact) => fact.startsWith('callback_'))).toEqual([`callback_${outcome}`])
      await notify(ended.job, ended.pipeline)
      expect(server.sockets).toHaveLength(1)
      await expectSettled(ended)
    },
  )

  it('an unreachable receiver gets exactly one attempt, and the job is unaffected', async () => {
    const gone = await listenHttp(() => {})
    await gone.stop()
    const ended = await runJob(gone)
    expect(engines.counted()).toContain('callback_failed')
    await expectSettled(ended)
  })

  it('a lost response of the receiver does not cause a second callback', async () => {
    let taken = 0
    const server = await listenHttp((_request, response) => {
      taken += 1
      response.end('thanks')
    })
    const proxy = await startTcpProxy(server, () => ({ resetAfterBytes: 5 }))
    servers.push(server, proxy)
    const ended = await runJob(proxy)
    await notify(ended.job, ended.pipeline)
    expect([taken, proxy.sockets.length]).toEqual([1, 1])
    await expectSettled(ended)
  })
})

describe('callbacks across failures of the function', () => {
  const listen = async (): Promise<Loopback> => {
    const server = await listenHttp((_request, response) => response.end())
    servers.push(server)
    return server
  }

  it('a crash between claim and connection means no callback, however often the execution runs again', async () => {
    const server = await listen()
    const dieAfterClaim = async () => {
      throw new Error('the sandbox is gone')
    }
    const { pipeline, job } = await runJob(server, { Notify: dieAfterClaim })
    expect(await claimCallback(pipeline.context.table, job)).toBe(true)
    for (let redrive = 0; redrive < 2; redrive += 1) {
      expect(await createVideoMachine(pipeline).run(job)).toMatchObject({ status: 'SUCCEEDED' })
    }
    expect(server.sockets).toHaveLength(0)
  })

  it('a claim whose reply was lost means no callback', async () => {
    const server = await listen()
    const { pipeline, job } = await runJob(server, { Notify: async () => ({}) })
    const broken = breakConnection(pipeline.context.table, ':callbackState')
    await notify(job, pipeline)
    await notify(job, pipeline)
    expect(broken.left()).toBe(0)
    expect(await pipeline.read(job)).toMatchObject({ callbackState: 'sent' })
    expect(server.sockets).toHaveLength(0)
  })

  it('a crash after the request means no second callback, however often the execution runs again', async () => {
    const server = await listen()
    const dieAfterwards = async (step: () => Promise<unknown>) => {
      await step()
      throw new Error('the sandbox is gone')
    }
    const { pipeline, job } = await runJob(server, { Notify: dieAfterwards })
    for (let redrive = 0; redrive < 2; redrive += 1) {
      expect(await createVideoMachine(pipeline).run(job)).toMatchObject({ status: 'SUCCEEDED' })
    }
    expect(server.sockets).toHaveLength(1)
  })

  it('a crash before the claim means one callback, from the next execution', async () => {
    const server = await listen()
    const dieAtOnce = async () => {
      throw new Error('the sandbox is gone')
    }
    const { pipeline, job } = await runJob(server, { Notify: dieAtOnce })
    await Promise.all([createVideoMachine(pipeline).run(job), createVideoMachine(pipeline).run(job)])
    expect(server.sockets).toHaveLength(1)
  })
})
