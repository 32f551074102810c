import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { SwitchChange } from '#core/catalogue/switches.ts'
import { nearestName } from '../../terminal/nearest-name.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'

type Kind = SwitchChange['kind']

/** The ids that the configuration has. */
function configuredIds(config: GatewayConfig, kind: Kind): readonly string[] {
  return (kind === 'channel' ? config.channels : config.models).map(({ id }) => id)
}

/** @throws CommandFailedError, with the id that was probably meant, for an id that the configuration does not have. */
export function requireConfigured(
  config: GatewayConfig,
  { kind, id }: { readonly kind: Kind; readonly id: string },
): void {
  const ids = configuredIds(config, kind)
  if (ids.includes(id)) {
    return
  }
  const nearest = nearestName(id, ids)
  const advice = nearest === undefined ? `\`${kind} list\` shows the ${kind}s that it has` : `did you mean ${nearest}?`
  throw new CommandFailedError(`the deployed configuration has no ${kind} ${id}; ${advice}`)
}
