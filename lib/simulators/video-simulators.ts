import { readFileSync } from 'node:fs'
import { startP1Simulator } from './p1.ts'
import { startP2Simulator } from './p2.ts'
import { startP2ProxySimulator } from './p2-proxy.ts'
import { startRecordedSimulator } from './recorded.ts'
import type { Simulator } from './server.ts'
import type { TaskUpstreamOptions } from './task-upstream.ts'

/** A channel of the gateway: its provider and the provider's own settings. */
type SimulatedChannel = { readonly provider: string; readonly async_header?: string; readonly route?: string }

type Start = (options: TaskUpstreamOptions, channel: SimulatedChannel) => Promise<Simulator>

/** The providers whose every word is simulated. Any other is simulated by its recording. */
const IN_WORDS: ReadonlyMap<string, Start> = new Map([
  [
    'p1',
    (options, { async_header: asyncHeader }) => startP1Simulator(asyncHeader ? { ...options, asyncHeader } : options),
  ],
  ['p2', (options, { route }) => (route === 'proxy' ? startP2ProxySimulator(options) : startP2Simulator(options))],
])

/** Starts the simulation of a video channel's upstream. Rejects if the port is taken, or if nothing is known of the provider. */
export async function startVideoSimulator(channel: SimulatedChannel, options: TaskUpstreamOptions): Promise<Simulator> {
  const start = IN_WORDS.get(channel.provider)
  if (start !== undefined) {
    return await start(options, channel)
  }
  const recording = new URL(`recorded/${channel.provider}.json`, import.meta.url)
  return await startRecordedSimulator(JSON.parse(readFileSync(recording, 'utf8')), options)
}
