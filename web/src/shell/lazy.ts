import type { FunctionComponent } from 'preact'
import isoLazy from 'preact-iso/lazy'
import { whenReached } from '../state/reachability.ts'

type Load<Props> = () => Promise<{ readonly default: FunctionComponent<Props> }>

/** A component in a file of its own, loaded when it is first shown. */
export function lazy<Props>(load: Load<Props>): FunctionComponent<Props> {
  return isoLazy(() => loadAgain(load))
}

/**
 * A file that could not be loaded is asked for again as soon as the gateway is reached. If it is still not there, the console is loaded
 * anew: a browser may remember the failure, and a deployment may have given the file another name.
 */
async function loadAgain<Props>(load: Load<Props>): ReturnType<Load<Props>> {
  try {
    return await load()
  } catch {
    await whenReached()
  }
  try {
    return await load()
  } catch (error) {
    if (mayReload()) {
      location.reload()
      return new Promise(() => {})
    }
    return { default: () => failed(error) }
  }
}

/** While the component is drawn, so that the boundary of the page shows it. */
function failed(error: unknown): never {
  throw error
}

const RELOADED = 'reelgate.reloaded'

/** A file that a new console lacks too would otherwise reload the page for ever. */
const RELOAD_MILLISECONDS_MIN = 60_000

function mayReload(): boolean {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0)
  sessionStorage.setItem(RELOADED, String(Date.now()))
  return Date.now() - last > RELOAD_MILLISECONDS_MIN
}
