import type { ContextKey, ContextValues } from './context-schema.ts'
import { StageSettingsError } from './stage-settings-error.ts'

/** The Web Function that serves relayed requests of the front door. */
export type RelaySettings = {
  /** Whether the front door signs its requests, and the endpoint refuses all others. */
  readonly hasOriginAccessControl: boolean
  /** Revisions that share the requests, and the percentage of each. `new` is the one of this deployment. */
  readonly weights: readonly { readonly revision: 'new' | { readonly id: string }; readonly percent: number }[]
}

/** Settings that only a Web Function has. */
const OF_THE_WEB_FUNCTION = [
  'relayOriginAccessControl',
  'relayWeight',
  'relayPreviousRevision',
] as const satisfies readonly ContextKey[]

const WHOLE_PERCENT = 100

/** The Web Function of a stage; undefined where functions relay every request. */
export function relaySettings(values: ContextValues): RelaySettings | undefined {
  if (values.relay !== 'web') {
    return undefined
  }
  const { relayPreviousRevision: id, relayWeight: percent = WHOLE_PERCENT } = values
  const rest = id === undefined ? [] : [{ revision: { id }, percent: WHOLE_PERCENT - percent }]
  return {
    hasOriginAccessControl: values.relayOriginAccessControl,
    weights: [{ revision: 'new' as const, percent }, ...rest].filter((each) => each.percent > 0),
  }
}

/**
 * Refuses settings of the Web Function that contradict others.
 * @param values with the effective `profile`.
 * @throws StageSettingsError for the first contradiction.
 */
export function refuseRelayCombinations(values: ContextValues): void {
  if (values.relay !== 'web') {
    const asked = OF_THE_WEB_FUNCTION.find((key) => values[key] !== undefined && values[key] !== false)
    if (asked !== undefined) {
      throw new StageSettingsError(`the context setting ${asked} needs relay=web`)
    }
    return
  }
  if (values.console === 'off') {
    throw new StageSettingsError(
      'the context setting relay=web needs console=on, because the front door alone sends requests to the Web Function',
    )
  }
  if (values.waf === 'on' && values.frontDoorWebAclArn === undefined) {
    throw new StageSettingsError(
      'the context setting relay=web needs frontDoorWebAclArn, because the web ACL of the API does not see requests to the Web Function: deploy the stack in us-east-1 first, or leave waf=on out',
    )
  }
  if ((values.relayWeight === undefined) !== (values.relayPreviousRevision === undefined)) {
    throw new StageSettingsError(
      'the context settings relayWeight and relayPreviousRevision need each other: the previous revision has the requests that the new one does not get',
    )
  }
}
