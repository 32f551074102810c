import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { UsageError } from '../lib/cli/terminal.ts'
import { CostMeter, startMeteredTable } from '../test/engines/cost-meter.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions, RelayOptions } from './measurement.ts'
import type { LoadOrder } from './relay/load.ts'
import type { WatchedFigures, WatchedLoad } from './relay/load-process.ts'
import { nextMessage, PROCESSORS, requireTwoProcessors, startPinned } from './relay/pinned-process.ts'
import {
  installPortkey,
  type RunningTarget,
  startGateway,
  startTarget,
  startUpstream,
  TARGET_KINDS,
  type Target,
  targetsOf,
} from './relay/targets.ts'
import { median } from './statistics.ts'

type Case = {
  readonly name: string
  readonly connections: number
  readonly stream: boolean
  readonly api: 'chat' | 'responses' | 'messages'
  /** Whether the upstream speaks the API, too; otherwise its chat is translated. */
  readonly isNative: boolean
}

/** Busy connections, from a single client to more than one process can keep up with. */
const CONNECTIONS = [1, 16, 64] as const

const CASES: readonly Case[] = [
  ...['JSON', 'stream'].flatMap((kind) =>
    CONNECTIONS.map((connections) => ({
      ...{ name: `${kind}, ${connections}`, connections, stream: kind === 'stream' },
      ...{ api: 'chat' as const, isNative: true },
    })),
  ),
  ...(['responses', 'messages'] as const).flatMap((api) =>
    [true, false].flatMap((isNative) =>
      [1, 16].map((connections) => ({
        ...{ name: `${api} ${isNative ? 'native' : 'translated'}, ${connections}`, connections, stream: true },
        ...{ api, isNative },
      })),
    ),
  ),
]

/** Portkey is told its upstream for chat. */
function canServe({ kind }: Target, { api }: Case): boolean {
  return kind !== 'portkey' || api === 'chat'
}

type Effort = {
  readonly rounds: number
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly requests: number
}
/** `requests` are those whose use of the table is counted. */
const EFFORTS: Readonly<Record<'full' | 'quick', Effort>> = {
  full: { rounds: 3, warmUpSeconds: 2, seconds: 5, requests: 10_000 },
  quick: { rounds: 1, warmUpSeconds: 1, seconds: 1, requests: 500 },
}
const ROUNDS_MAX = 20

/** One load on one target. */
type Run = { readonly target: Target; readonly case: Case; readonly figures: WatchedFigures }

/** The relay under load beside Portkey's gateway and no gateway at all, in one run on one machine. */
export async function measureRelay({ quick, progress, relay = {} }: MeasureOptions): Promise<string> {
  const effort = EFFORTS[quick ? 'quick' : 'full']
  const { cases, targets, rounds } = selected(relay, effort)
  requireTwoProcessors()
  if (targets.some(({ kind }) => kind === 'portkey')) {
    await installPortkey(progress)
  }
  const upstream = await startUpstream()
  const runs: Run[] = []
  try {
    for (let round = 1; round <= rounds; round += 1) {
      runs.push(...(await measureRound({ targets, cases, upstream, effort, progress })))
    }
    const tableUse = await measureTableUse({ targets, cases, upstream, effort, progress })
    return ['## Relay', report(runs, { cases, targets, rounds, effort }), ...tableUse].join('\n\n')
  } finally {
    await upstream.stop()
  }
}

type Selection = { readonly cases: readonly Case[]; readonly targets: readonly Target[]; readonly rounds: number }

/** @throws UsageError for a name or a number that makes no sense. */
function selected({ cases = [], targets = [], rounds, checkout }: RelayOptions, effort: Effort): Selection {
  const named = <Item>(
    kind: string,
    names: readonly string[],
    all: readonly Item[],
    nameOf: (item: Item) => string,
  ) => {
    const unknown = names.find((name) => !all.some((item) => nameOf(item) === name))
    if (unknown !== undefined) {
      throw new UsageError(`no ${kind} ${unknown}; one of: ${all.map((item) => `"${nameOf(item)}"`).join(', ')}`)
    }
    return all.filter((item) => names.length === 0 || names.includes(nameOf(item)))
  }
  const count = Number(rounds ?? effort.rounds)
  if (!Number.isInteger(count) || count < 1 || count > ROUNDS_MAX) {
    throw new UsageError(`--rounds is a number from 1 to ${ROUNDS_MAX}`)
  }
  const kinds = named('target', targets, TARGET_KINDS, (kind) => kind)
  return { cases: named('case', cases, CASES, ({ name }) => name), targets: targetsOf(kinds, checkout), rounds: count }
}

type Round = Omit<Selection, 'rounds'> & {
  readonly upstream: RunningTarget
  readonly effort: Effort
  readonly progress: (line: string) => void
}

/**
 * Every case on every target, each on a fresh server. The targets take turns within a case, because the speed of a machine changes by
 * the minute.
 */
async function measureRound({ targets, cases, upstream, effort, progress }: Round): Promise<Run[]> {
  const started: { readonly target: Target; readonly running: RunningTarget }[] = []
  const runs: Run[] = []
  try {
    for (const target of targets) {
      started.push({ target, running: await startTarget(target, upstream) })
    }
    for (const each of cases) {
      for (const { target, running } of started.filter((one) => canServe(one.target, each))) {
        const until = { seconds: effort.seconds }
        const figures = await sendLoad(running, each, { warmUpSeconds: effort.warmUpSeconds, until })
        progress(
          `${target.title}, ${each.name}: ${figures.perSecond.toFixed(0)}/s, ${figures.cpuMilliseconds.toFixed(3)} ms`,
        )
        runs.push({ target, case: each, figures })
      }
    }
    return runs
  } finally {
    await Promise.all(started.map(({ running }) => running.stop()))
  }
}

const SYSTEM = 'You are a helpful assistant.'
const WORDS = 'Say something short about relays, gateways and the price of one more hop.'

/** The same question in each API, and how every correct stream ends. */
const QUESTIONS = {
  chat: {
    path: '/v1/chat/completions',
    body: {
      messages: [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: WORDS },
      ],
      temperature: 0.7,
      max_tokens: 128,
    },
    end: 'data: [DONE]\n\n',
  },
  responses: {
    path: '/v1/responses',
    body: { instructions: SYSTEM, input: WORDS, temperature: 0.7, max_output_tokens: 128 },
    end: '}\n\n',
  },
  messages: {
    path: '/v1/messages',
    body: { system: SYSTEM, messages: [{ role: 'user', content: WORDS }], temperature: 0.7, max_tokens: 128 },
    end: 'data: {"type":"message_stop"}\n\n',
  },
}

type Length = Pick<WatchedLoad, 'warmUpSeconds' | 'until'>

/** Runs one load on a target, in a process of its own on the load's processor. */
async function sendLoad(
  running: RunningTarget,
  { connections, stream, api, isNative }: Case,
  length: Length,
): Promise<WatchedFigures> {
  const { path, body, end } = QUESTIONS[api]
  const model = api !== 'chat' && isNative ? `${running.model}-native` : running.model
  const order: LoadOrder = {
    url: `${running.origin}${path}`,
    headers: { 'content-type': 'application/json', ...running.headers },
    body: JSON.stringify({ model, ...body, ...(stream && { stream }) }),
    end: stream ? end : '}',
    connections,
    until: length.until,
  }
  const load = startPinned(PROCESSORS.load, [join(import.meta.dirname, 'relay', 'load-process.ts')])
  try {
    load.child.send({ ...order, ...length, serverPid: running.pid } satisfies WatchedLoad)
    return await nextMessage<WatchedFigures>(load)
  } finally {
    await load.stop()
  }
}

const MEGABYTE = 1_000_000

function report(runs: readonly Run[], { cases, targets, rounds, effort }: Selection & { effort: Effort }): string {
  const rows = cases.flatMap((each) =>
    targets
      .filter((target) => canServe(target, each))
      .map((target) => {
        const some = runs.filter((run) => run.case === each && run.target === target).map(({ figures }) => figures)
        const middle = (figureOf: (figures: WatchedFigures) => number) => median(some.map(figureOf))
        const times = [
          middle(({ total }) => total.p50),
          middle(({ total }) => total.p99),
          middle(({ firstByte }) => firstByte.p50),
          middle(({ firstByte }) => firstByte.p99),
        ]
        return [
          each.name,
          target.title,
          middle(({ perSecond }) => perSecond).toFixed(0),
          ...times.map((value) => value.toFixed(2)),
          (middle(({ residentBytes }) => residentBytes) / MEGABYTE).toFixed(0),
          middle(({ cpuMilliseconds }) => cpuMilliseconds).toFixed(3),
          middle(({ engineCpuMilliseconds }) => engineCpuMilliseconds).toFixed(3),
          some.reduce((sum, { errors }) => sum + errors, 0),
        ]
      }),
  )
  const times = ['p50 ms', 'p99 ms', 'first byte p50 ms', 'first byte p99 ms']
  const use = ['memory MB', 'CPU ms/request', 'table’s engine, CPU ms/request']
  return [
    `Medians of ${rounds} rounds of ${effort.seconds} s after a warm-up, a fresh server for each target and round. The server has one core for itself and`,
    'its children; upstream and load share the other. The upstream responds at once: 561 bytes of JSON, or 20 events with text and the others of its API.',
    'A case with a name of an API is a stream; translated ones come from a chat. The number behind the case is that of busy connections. CPU is of the server’s own process, memory of its children too.',
    '',
    markdownTable(['case', 'target', 'requests/s', ...times, ...use, 'errors'], rows),
  ].join('\n')
}

/** A settlement may wait a quarter of a second for company. */
const SETTLED_MILLISECONDS = 1_000

/**
 * What billed requests ask of the table: its requests and units, counted on the wire between gateway and engine. The counting slows the table
 * down, so that groups are larger than in the other table.
 */
async function measureTableUse({ targets, cases, upstream, effort, progress }: Round): Promise<string[]> {
  const rows: (string | number)[][] = []
  for (const target of targets.filter(({ kind }) => kind === 'priced')) {
    const directory = mkdtempSync(join(tmpdir(), 'reelgate-bench-table-'))
    const engine = await startDynamoDbEngine(join(directory, 'table.db'), {})
    const meter = new CostMeter()
    const table = await startMeteredTable(engine.endpoint, meter)
    const gateway = await startGateway({ ...target, model: 'priced', upstream, tableEndpoint: table.origin })
    try {
      for (const each of cases) {
        progress(`${target.title}, ${each.name}: requests and units of the table`)
        await delay(SETTLED_MILLISECONDS)
        meter.take()
        await sendLoad(gateway, each, { warmUpSeconds: 0, until: { requests: effort.requests } })
        await delay(SETTLED_MILLISECONDS)
        const { requests, readUnits, writeUnits } = meter.take()
        const sum = Object.values(requests).reduce((total, count) => total + count, 0)
        const shares = [sum, readUnits, writeUnits].map((count) => (count / effort.requests).toFixed(2))
        rows.push([each.name, target.title, ...shares])
      }
    } finally {
      await gateway.stop()
      await table.stop()
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
    }
  }
  const head = ['case', 'for a request of', 'table requests', 'read units', 'write units']
  return rows.length === 0 ? [] : [markdownTable(head, rows)]
}
