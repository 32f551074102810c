import { UPSTREAM_FAULTS, type UpstreamFault } from '../traffic/echo-upstream.ts'
import { TABLE_FAULTS, type TableFault } from '../traffic/table-proxy.ts'

/** Faults of a share of all requests, each kind equally often. */
export type Faults = {
  readonly upstream: () => UpstreamFault | undefined
  readonly table: () => TableFault | undefined
  /** No more faults from now on. */
  end(): void
}

/** @param share of the requests that meet a fault. */
export function randomFaults(share: number, random: () => number): Faults {
  let now = share
  const pick = <Fault>(faults: readonly Fault[]) =>
    random() < now ? faults[Math.floor(random() * faults.length)] : undefined
  return {
    upstream: () => pick(UPSTREAM_FAULTS),
    table: () => pick(TABLE_FAULTS),
    end: () => {
      now = 0
    },
  }
}
