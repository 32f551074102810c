import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startTestTable } from '../test/engines/start-test-table.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { startEchoUpstream } from './traffic/echo-upstream.ts'
import { type HeldStream, holdStream } from './traffic/held-stream.ts'
import { processSize } from './traffic/process-size.ts'
import { bundleRelayServer, startRelayProcess } from './traffic/relay-process.ts'
import { writeTrafficConfig } from './traffic/traffic-config.ts'
import { makeTrafficTenants } from './traffic/traffic-tenants.ts'

const STREAMS = 1_000
const TENANTS = 20

/** Of each run: while all streams are open. */
const SECONDS = 30
const QUICK_SECONDS = 10

/** Streams that are asked for at the same time while the run begins. */
const BEGINNING_MAX = 50

/** A run: what the upstreams send, and whether anybody reads. */
type StreamsCase = {
  readonly name: string
  readonly reads: boolean
  readonly eventMilliseconds: number
  readonly paddingBytes: number
}

/** The last upstream sends as fast as it is read. */
const CASES: readonly StreamsCase[] = [
  { name: 'read, an event of 200 bytes a second', reads: true, eventMilliseconds: 1_000, paddingBytes: 0 },
  { name: 'not read, events of 16 KB without end', reads: false, eventMilliseconds: 0, paddingBytes: 16_384 },
]

/** Memory of one relay server while a thousand streams are open, and while nobody reads them. */
export async function measureOpenStreams({ quick, progress }: MeasureOptions): Promise<string> {
  const rows: string[][] = []
  for (const each of CASES) {
    progress(each.name)
    const found = await holdStreams(each, { streams: STREAMS, seconds: quick ? QUICK_SECONDS : SECONDS })
    const { before, open, peak, closed, receivedBytes } = found
    rows.push([
      each.name,
      ...[before, open, peak].map((bytes) => (bytes / 1e6).toFixed(0)),
      String(closed),
      (receivedBytes / 1e6).toFixed(1),
    ])
  }
  const head = ['1,000 streams', 'MB before', 'MB at the end', 'MB at most', 'cut by the gateway', 'MB received']
  return `## Open streams\n\n${markdownTable(head, rows)}`
}

/** What was found while streams were open; memory in bytes. */
type FoundStreams = {
  readonly before: number
  readonly open: number
  readonly peak: number
  /** Streams that the gateway has closed. */
  readonly closed: number
  readonly receivedBytes: number
}

type Hold = { readonly streams: number; readonly seconds: number }

/** Opens streams through a relay server of its own, and watches its memory. */
export async function holdStreams(
  { reads, eventMilliseconds, paddingBytes }: Omit<StreamsCase, 'name'>,
  { streams, seconds }: Hold,
): Promise<FoundStreams> {
  const bundle = bundleRelayServer()
  const configFile = join(mkdtempSync(join(tmpdir(), 'reelgate-streams-')), 'gateway.json')
  const [engine, upstream] = await Promise.all([
    startTestTable(),
    startEchoUpstream({ events: Number.POSITIVE_INFINITY, paddingBytes, pauseMilliseconds: () => eventMilliseconds }),
  ])
  writeTrafficConfig(configFile, upstream.origin)
  const tenants = await makeTrafficTenants(engine.table, { count: TENANTS, isRateLimited: false })
  const environment = { tableEndpoint: engine.endpoint, tableName: engine.table.name, configFile }
  const gateway = await startRelayProcess(bundle, environment)
  const size = () => processSize(gateway.pid).residentBytes
  const held: HeldStream[] = []
  try {
    const before = size()
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, size())
    }, 200)
    let next = 0
    const open = async () => {
      for (let request = next; request < streams; request = next) {
        next += 1
        const mark = { tenant: request % TENANTS, request }
        const { port } = new URL(gateway.origin)
        held.push(await holdStream({ port: Number(port), key: tenants[mark.tenant]?.key ?? '', mark, reads }))
      }
    }
    await Promise.all(Array.from({ length: BEGINNING_MAX }, open))
    await delay(seconds * 1_000)
    clearInterval(watch)
    const receivedBytes = held.reduce((sum, { received }) => sum + received(), 0)
    return { before, open: size(), peak, closed: held.filter(({ isClosed }) => isClosed()).length, receivedBytes }
  } finally {
    for (const { socket } of held) {
      socket.destroy()
    }
    await gateway.kill()
    await Promise.all([engine.close(), upstream.close()])
    bundle.remove()
    rmSync(join(configFile, '..'), { recursive: true })
  }
}
