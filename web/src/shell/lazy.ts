import type { FunctionComponent } from 'preact'
import isoLazy from 'preact-iso/lazy'

/** A component in a file of its own, loaded when it is first shown. */
export function lazy<Props>(
  load: () => Promise<{ readonly default: FunctionComponent<Props> }>,
): FunctionComponent<Props> {
  return isoLazy(load)
}
