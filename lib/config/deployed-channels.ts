import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { StageSettings } from './stage-settings.ts'
import { StageSettingsError } from './stage-settings-error.ts'

type Stage = Pick<StageSettings, 'stage' | 'profile' | 'configFile'>

/**
 * Requires a channel for a stage with the profile `prod`.
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
 * The warning for a stage with the profile `prod` that leaves channels out, because an unset variable is enough to remove a
 * channel from a stage; undefined if nothing is left out.
 */
export function leftOutSentence(
  { stage, profile }: Stage,
  { config, leftOut }: { readonly config: GatewayConfig; readonly leftOut: readonly string[] },
): string | undefined {
  if (profile !== 'prod' || leftOut.length === 0) {
    return undefined
  }
  const deployed = config.channels.map(({ id }) => id).join(', ')
  return `The stage ${stage} gets the channels ${deployed}, but not ${leftOut.join(', ')}, because their base urls are not set. If the deployed stage has one of these, it loses it.`
}
