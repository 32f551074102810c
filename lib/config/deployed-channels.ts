import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { StageSettings } from './stage-settings.ts'
import { StageSettingsError } from './stage-settings-error.ts'

type Stage = Pick<StageSettings, 'stage' | 'profile' | 'configFile'>

/**
 * Clients depend on a stage with the profile `prod`: it must have an upstream.
 * @throws StageSettingsError
 */
export function requireChannels({ stage, profile, configFile }: Stage, { channels }: GatewayConfig): void {
  if (profile === 'prod' && channels.length === 0) {
    throw new StageSettingsError(
      `the stage ${stage} has no channel: set the base urls of the upstreams that ${configFile} names, such as P1_BASE_URL`,
    )
  }
}

/**
 * One sentence about what a deployment with the profile `prod` leaves out of its configuration, because a channel is taken
 * out of the stage by nothing more than a variable that was not set; undefined where there is nothing to say.
 */
export function leftOutSentence(
  { stage, profile }: Stage,
  { config, leftOut }: { readonly config: GatewayConfig; readonly leftOut: readonly string[] },
): string | undefined {
  if (profile !== 'prod' || leftOut.length === 0) {
    return undefined
  }
  const deployed = config.channels.map(({ id }) => id).join(', ')
  return `The stage ${stage} gets the channels ${deployed}, and not ${leftOut.join(', ')}, whose base urls are not set: a stage that has one of these loses it.`
}
