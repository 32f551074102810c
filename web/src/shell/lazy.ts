import type { FunctionComponent } from 'preact'
import isoLazy from 'preact-iso/lazy'

/** A page in a file of its own, loaded when it is first shown. */
export function lazy(load: () => Promise<{ readonly default: FunctionComponent }>): FunctionComponent {
  return isoLazy(load)
}
