import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { CountedFact } from '#core/telemetry/counted-facts.ts'
import type { AlarmDefinition } from './alarm-definition.ts'
import type { ServiceMetrics } from './service-metrics.ts'

type Channel = GatewayConfig['channels'][number]

type ChannelAlarm = Pick<AlarmDefinition, 'name' | 'meaning'> & {
  readonly fact: CountedFact
  readonly isFor: (channel: Channel) => boolean
}

const CHANNEL_ALARMS: readonly ChannelAlarm[] = [
  {
    name: 'UsageAboveBound',
    meaning: 'The upstream reported more usage than its model allows; the maximum of the model was billed.',
    fact: 'usage_above_bound',
    isFor: () => true,
  },
  {
    name: 'AnswerCutShort',
    meaning: 'A reply of the upstream was too long or too slow; its client got an incomplete response.',
    fact: 'answer_cut_short',
    isFor: isRelayed,
  },
  {
    name: 'ResultRefused',
    meaning:
      'The upstream reported success, but its result is not a video or may not be fetched; the job was not billed.',
    fact: 'result_refused',
    isFor: (channel) => !isRelayed(channel),
  },
]

/**
 * Alarms on faults of one upstream. Each channel has its own alarms, whose names include the channel, so that the operator knows
 * which upstream to contact. Each alarm adds one metric per channel.
 */
export function channelAlarms(metrics: ServiceMetrics, { channels }: GatewayConfig): readonly AlarmDefinition[] {
  return CHANNEL_ALARMS.flatMap(({ name, meaning, fact, isFor }) =>
    channels.filter(isFor).map(({ id }) => ({
      name,
      meaning,
      channel: id,
      metric: metrics.sumOfChannel(fact, { channel: id, minutes: 5 }),
      threshold: 1,
    })),
  )
}

function isRelayed({ provider }: Channel): boolean {
  return provider === 'openai'
}
