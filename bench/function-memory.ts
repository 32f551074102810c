import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { API_NEEDS } from '#aws/function-needs.ts'
import { startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { canLimitCpu } from './memory/cpu-share.ts'
import { startLargeUpstream } from './memory/large-upstream.ts'
import { type Case, CHAT, eventOf, LARGE_CASES } from './memory/memory-cases.ts'
import { configurationOf, type MemoryRig, prepareRig } from './memory/memory-rig.ts'
import { type FunctionFiles, startRelayFunction, writeFunction } from './memory/relay-function.ts'
import { median, quantile } from './statistics.ts'

/** Memory sizes that are compared. */
const MEMORY_MEGABYTES = [256, 512, 768, 1024, 1769]

/** Fresh processes for each size, and requests of each after its first. */
const ROUNDS = { full: 9, quick: 2 }
const WARM_REQUESTS = 40

/** How fast the relay functions start and work with the share of a vCPU of each memory size, and how much memory their requests need. */
export async function measureFunctionMemory({ quick, progress }: MeasureOptions): Promise<string> {
  const parent = mkdtempSync(join(tmpdir(), 'reelgate-bench-'))
  const [engine, upstream] = await Promise.all([
    startDynamoDbEngine(':memory:', { PATH: process.env.PATH }),
    startLargeUpstream(),
  ])
  try {
    progress('bundling')
    const rig = await prepareRig(engine.endpoint)
    const configuration = configurationOf(upstream.baseUrl)
    const operations = new Set(Object.values(LARGE_CASES).map(({ operation }) => operation))
    const files = new Map([...operations].map((name) => [name, writeFunction(parent, name, configuration)]))
    const isLimited = canLimitCpu()
    const speeds = await measureSpeeds({ ...rig, files, isLimited }, quick ? ROUNDS.quick : ROUNDS.full, progress)
    const peaks: string[][] = []
    for (const [name, each] of Object.entries(LARGE_CASES)) {
      progress(name)
      upstream.replyWith(each.reply)
      peaks.push([name, ...(await measurePeak(each, { ...rig, files }))])
    }
    return report(speeds, peaks, isLimited)
  } finally {
    await Promise.all([engine.close(), upstream.close()])
    rmSync(parent, { recursive: true, force: true })
  }
}

type Rig = MemoryRig & { readonly files: ReadonlyMap<Case['operation'], FunctionFiles> }

type Speed = { readonly load: number[]; readonly first: number[]; readonly warm: number[]; readonly cpu: number[] }

async function measureSpeeds(
  { files, environment, key, isLimited }: Rig & { readonly isLimited: boolean },
  rounds: number,
  progress: MeasureOptions['progress'],
): Promise<ReadonlyMap<number, Speed>> {
  const speeds = new Map(MEMORY_MEGABYTES.map((size) => [size, { load: [], first: [], warm: [], cpu: [] } as Speed]))
  const chat = files.get(CHAT.operation)
  for (let round = 0; chat !== undefined && round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`)
    for (const [memoryMegabytes, speed] of speeds) {
      const target = await startRelayFunction({ ...chat, memoryMegabytes, isLimited, environment })
      try {
        speed.load.push(await target.load())
        speed.first.push((await invokeOk(target, eventOf(CHAT, key))).milliseconds)
        for (let request = 0; request < WARM_REQUESTS; request += 1) {
          const { milliseconds, cpuMilliseconds } = await invokeOk(target, eventOf(CHAT, key))
          speed.warm.push(milliseconds)
          speed.cpu.push(cpuMilliseconds)
        }
      } finally {
        await target.end()
      }
    }
  }
  return speeds
}

async function measurePeak(each: Case, { files, environment, key }: Rig): Promise<string[]> {
  const of = files.get(each.operation)
  if (of === undefined) {
    throw new RangeError(`no bundle of ${each.operation}`)
  }
  const { memoryMegabytes } = API_NEEDS[each.operation]
  const target = await startRelayFunction({ ...of, memoryMegabytes, isLimited: false, environment })
  try {
    await target.load()
    await invokeOk(target, eventOf(each, key))
    await invokeOk(target, eventOf(each, key))
    return [(await target.peakMegabytes()).toFixed(0), String(memoryMegabytes)]
  } finally {
    await target.end()
  }
}

type Target = Awaited<ReturnType<typeof startRelayFunction>>

async function invokeOk(target: Target, event: object) {
  const invoked = await target.invoke(event)
  if (invoked.statusCode !== 200) {
    throw new Error(`the function answered ${invoked.statusCode}`)
  }
  return invoked
}

function report(speeds: ReadonlyMap<number, Speed>, peaks: readonly string[][], isLimited: boolean): string {
  const rows = [...speeds].map(([memoryMegabytes, { load, first, warm, cpu }]) => [
    memoryMegabytes,
    `${((100 * memoryMegabytes) / 1769).toFixed(0)} %`,
    ...[median(load), quantile(load, 0.95), median(first), median(warm), quantile(warm, 0.95), median(cpu)].map(
      (each) => each.toFixed(1),
    ),
  ])
  const head = ['memory MB', 'of a vCPU', 'load ms', 'p95', 'first request ms', 'warm ms', 'p95', 'CPU ms']
  return [
    '## Memory of the relay functions',
    '',
    isLimited
      ? 'Each process gets the share of one processor that Lambda gives to its memory, by a cgroup quota in slices of 20 ms, from before its import on.'
      : 'This machine lets nobody limit processors: every size ran with a whole one, and the times are a lower bound for all of them.',
    'A chat of an upstream that answers at once, reserved and settled in the local table.',
    '',
    markdownTable(head, rows),
    '',
    'The most resident memory of a process after two such requests, with a whole processor, beside the memory of the function:',
    '',
    markdownTable(['request', 'MB', 'of'], [...peaks]),
  ].join('\n')
}
