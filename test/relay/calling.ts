import { afterEach, beforeEach, jest } from '@jest/globals'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { Breakers } from '#lambdas/relay/breakers.ts'
import type { UpstreamReply } from '#lambdas/relay/call-channel.ts'
import { callUpstream, type UpstreamCall, type UpstreamContext } from '#lambdas/relay/failover.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { createUpstreamConnections, type UpstreamConnections } from '#upstream/providers/openai.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { fakeExchange } from './fake-exchange.ts'
import { type RawRequest, type RawUpstream, startRawUpstream } from './raw-upstream.ts'
import { type ChannelInput, relayChannel } from './relay-channel.ts'

/** A unix time, in milliseconds, at which a test begins. */
export const NOW = Date.UTC(2030, 0, 2, 3, 4, 5)

/** What a test may change of the context while it runs. */
type CallState = {
  channels: RelayChannel[]
  nowMilliseconds: number
  credential: UpstreamContext['credential']
  renewedCredential: NonNullable<UpstreamContext['renewedCredential']>
  random: () => number
  breakers: Breakers
}

type Calling = {
  readonly state: CallState
  /** Every log line above debug, as it was handed to the logger. */
  readonly logged: readonly unknown[][]
  readonly counted: () => string[]
  /** Adds a channel over an upstream of its own; the first added is tried first. */
  addChannel(id: string, answer: (request: RawRequest) => void, members?: ChannelInput): Promise<RawUpstream>
  /** Adds a channel to whose upstream nothing connects. */
  addDeadChannel(id: string, members?: ChannelInput): Promise<void>
  /** @param relay hands out the reply unless told otherwise. */
  call(
    members?: Partial<UpstreamCall>,
    relay?: (reply: UpstreamReply) => Promise<UpstreamReply>,
  ): Promise<UpstreamReply>
}

/** Calls by a context of their own for each test of a file. */
export function useCalling(): Calling {
  const telemetry = captureTelemetry()
  const logged: unknown[][] = []
  for (const level of ['info', 'warn', 'error'] as const) {
    jest.spyOn(logger, level).mockImplementation((...line: unknown[]) => void logged.push([level, ...line]))
  }
  const state: CallState = fresh()
  let connections: UpstreamConnections
  let stops: (() => Promise<void>)[]
  beforeEach(() => {
    Object.assign(state, fresh())
    telemetry.reset()
    logged.length = 0
    connections = createUpstreamConnections()
    stops = []
  })
  afterEach(async () => {
    connections.close()
    await Promise.all(stops.map((stop) => stop()))
  })

  const add = (id: string, origin: string, members: ChannelInput) => {
    const common = { base_url: `${origin}/v1`, priority: state.channels.length }
    state.channels.push(relayChannel(id, { ...common, ...members }))
  }
  return {
    state,
    logged,
    counted: telemetry.counted,
    addChannel: async (id, answer, members = {}) => {
      const upstream = await startRawUpstream(answer)
      stops.push(upstream.stop)
      add(id, upstream.origin, members)
      return upstream
    },
    addDeadChannel: async (id, members = {}) => {
      const upstream = await startRawUpstream(() => {})
      await upstream.stop()
      add(id, upstream.origin, members)
    },
    call: (members, relay = async (reply) => reply) => {
      const call = { ...CALL, deadline: performance.now() + 290_000, ...members }
      return callUpstream(contextOf(state, connections), call, relay)
    },
  }
}

function fresh(): CallState {
  return {
    channels: [],
    nowMilliseconds: NOW,
    credential: async ({ id }) => `secret-key-of-${id}`,
    renewedCredential: async () => undefined,
    random: Math.random,
    breakers: new Breakers(),
  }
}

const CALL: Omit<UpstreamCall, 'deadline'> = {
  exchange: fakeExchange(),
  modelId: 'chat',
  write: ({ upstreamModel }) => ({
    path: '/chat/completions',
    text: JSON.stringify({ model: upstreamModel, prompt: 'secret words' }),
  }),
}

function contextOf(state: CallState, connections: UpstreamConnections): UpstreamContext {
  return {
    currentCatalogue: {
      read: async () => ({ relayChannels: (modelId) => (modelId === 'chat' ? state.channels : []) }),
    },
    breakers: state.breakers,
    connections,
    credential: (channel) => state.credential(channel),
    renewedCredential: (channel, refused) => state.renewedCredential(channel, refused),
    random: () => state.random(),
    nowMilliseconds: () => state.nowMilliseconds,
  }
}

/** An error body as upstreams of this wire write it. */
export function errorBody(members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ error: { message: 'words', type: null, param: null, code: null, ...members } })
}
