import { UPSTREAM_FAULTS, type UpstreamFault } from '../traffic/echo-upstream.ts'
import { TABLE_FAULTS, type TableFault } from '../traffic/table-proxy.ts'

/** Faults of a share of all requests, each kind equally often. */
export type Faults = {
  readonly upstream: () => UpstreamFault | undefined
  readonly table: () => TableFault | undefined
  /** No more faults from now on. */
  end(): void
}

/**
 * @param share of the requests that meet a fault.
 * @param tableFaults what goes wrong at the table. Default: everything.
 */
export function randomFaults(
  share: number,
  random: () => number,
  tableFaults: readonly TableFault[] = TABLE_FAULTS,
): Faults {
  let now = share
  const pick = <Fault>(faults: readonly Fault[]) =>
    random() < now ? faults[Math.floor(random() * faults.length)] : undefined
  return {
    upstream: () => pick(UPSTREAM_FAULTS),
    table: () => pick(tableFaults),
    end: () => {
      now = 0
    },
  }
}
