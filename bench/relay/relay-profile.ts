import { setTimeout as delay } from 'node:timers/promises'
import { type CpuProfile, recordCpuProfile } from '../cpu-profile.ts'
import { markdownTable } from '../markdown-table.ts'
import type { MeasureOptions } from '../measurement.ts'
import { cpuMilliseconds, findDescendant } from '../process-cpu.ts'
import { type ProfilePart, RELAY_PROFILE_PARTS, timeByPart } from '../profile-parts.ts'
import { startGateway } from './gateway-process.ts'
import { requireTwoProcessors } from './pinned-process.ts'
import { PRICINGS, type Pricing, type UpstreamOrigins } from './relay-config.ts'
import { FULL_EFFORT, QUICK_EFFORT } from './relay-effort.ts'
import { gatewayEntry } from './relay-targets.ts'
import { type LoadSeconds, sendLoad } from './send-load.ts'
import { measureTableUse } from './table-use.ts'
import { startUpstreams } from './upstream-processes.ts'

const CONNECTIONS = 16

/** One gateway under one load. */
type RelayProfile = {
  readonly pricing: Pricing
  readonly stream: boolean
  readonly requests: number
  readonly profile: CpuProfile
  /** Of the table's engine, a process of its own, while the profile was taken. */
  readonly engineMilliseconds: number
}

/** Where the gateway's time goes under load. */
export async function measureRelayProfile({ quick, progress }: MeasureOptions): Promise<string> {
  requireTwoProcessors()
  const upstreams = await startUpstreams()
  try {
    const origins = { burst: upstreams.burst.origin, paced: upstreams.paced.origin }
    const effort = quick ? QUICK_EFFORT : FULL_EFFORT
    const profiles = await profileRelay(origins, effort, progress)
    progress('requests and units of the table')
    const tableUse = await measureTableUse(upstreams, effort.requests)
    return `## Relay, profile\n\n${renderRelayProfiles(profiles)}\n\n${tableUse}`
  } finally {
    await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()))
  }
}

/** With 16 connections: for each of JSON and stream, with a price and without. */
async function profileRelay(
  origins: UpstreamOrigins,
  seconds: LoadSeconds,
  progress: (line: string) => void,
): Promise<RelayProfile[]> {
  const profiles: RelayProfile[] = []
  for (const pricing of PRICINGS) {
    for (const stream of [false, true]) {
      progress(`profile: ${stream ? 'stream' : 'JSON'}, ${TITLES[pricing]}`)
      profiles.push(await profileOnce({ pricing, stream, origins }, seconds))
    }
  }
  return profiles
}

type Profiled = { readonly pricing: Pricing; readonly stream: boolean; readonly origins: UpstreamOrigins }

async function profileOnce({ pricing, stream, origins }: Profiled, seconds: LoadSeconds): Promise<RelayProfile> {
  const gateway = await startGateway(origins, { withInspector: true })
  try {
    const entry = gatewayEntry(gateway, pricing)
    const engine = findDescendant(gateway.pid, 'dynoxide')
    const load = { plan: { kind: 'closed', connections: CONNECTIONS }, pace: 'burst', stream } as const
    await sendLoad({ entry }, load, { warmUpSeconds: 0, measuredSeconds: seconds.measuredSeconds })
    const running = sendLoad({ entry }, load, seconds)
    await delay(seconds.warmUpSeconds * 1000)
    const engineBefore = cpuMilliseconds(engine)
    const profile = await recordCpuProfile(gateway.inspectorUrl ?? '', () => delay(seconds.measuredSeconds * 1000))
    const engineMilliseconds = cpuMilliseconds(engine) - engineBefore
    const { requests } = await running
    return { pricing, stream, requests, profile, engineMilliseconds }
  } finally {
    await gateway.stop()
  }
}

/** A column for each profile: how much of the busy time each part took, and the engine beside it. */
function renderRelayProfiles(profiles: readonly RelayProfile[]): string {
  const columns = profiles.map((each) => ({ ...each, times: timeByPart(each.profile) }))
  const titles = columns.map(({ stream, pricing }) => `${stream ? 'stream' : 'JSON'}, ${TITLES[pricing]}`)
  const rows = RELAY_PROFILE_PARTS.map((part) => [part, ...columns.map(({ times }) => percent(shareOf(part, times)))])
  const engine = columns.map(({ engineMilliseconds, times }) =>
    percent(engineMilliseconds / (engineMilliseconds + busyMilliseconds(times))),
  )
  return markdownTable(
    [`part of the gateway’s process, ${CONNECTIONS} connections`, ...titles],
    [...rows, ['table’s engine, of the CPU time of both processes', ...engine]],
  )
}

const TITLES: Readonly<Record<Pricing, string>> = { priced: 'with a price', free: 'price zero' }

/** Of the time that the process was not idle; idle itself of all time. */
function shareOf(part: ProfilePart, times: ReadonlyMap<ProfilePart, number>): number {
  const time = times.get(part) ?? 0
  return time / (part === 'idle' ? busyMilliseconds(times) + time : busyMilliseconds(times))
}

function busyMilliseconds(times: ReadonlyMap<ProfilePart, number>): number {
  return [...times].reduce((sum, [part, milliseconds]) => (part === 'idle' ? sum : sum + milliseconds), 0)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
