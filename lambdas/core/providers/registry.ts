import { p1 } from './p1.ts'
import { p2 } from './p2.ts'
import type { VideoProvider } from './video-provider.ts'

/** Every provider of videos. Whatever depends on the provider of a channel or a job is found through this list. */
export const VIDEO_PROVIDERS = [p1, p2] as const

/**
 * The provider of a channel or of a stored job.
 * @throws RangeError for a name that no provider has.
 */
export function videoProvider(name: string): VideoProvider<unknown> {
  const providers: readonly VideoProvider<unknown>[] = VIDEO_PROVIDERS
  const found = providers.find((provider) => provider.name === name)
  if (found === undefined) {
    throw new RangeError(`no video provider ${name}`)
  }
  return found
}
