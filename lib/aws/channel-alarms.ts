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
 * Alarms on what one upstream does alone: each channel of the configuration has its own, which names it, so that whoever is
 * woken knows whom to ask. They cost as many metrics as there are channels.
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
