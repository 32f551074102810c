import type { VideoChannel } from '#core/catalogue/channel.ts'
import { createP1VideoProvider } from './p1/p1-video.ts'
import { createP2ProxyVideoProvider, createP2VideoProvider } from './p2/p2-video.ts'
import type { VideoProviderDependencies } from './video/account-caller.ts'
import type { VideoProvider } from './video/video-provider.ts'

/** Creates the adapter for the wire contract of a channel, by its provider type and, for P2, its route. */
export function createVideoProvider(channel: VideoChannel, dependencies: VideoProviderDependencies): VideoProvider {
  if (channel.provider === 'p1') {
    return createP1VideoProvider({ ...dependencies, channel })
  }
  switch (channel.route) {
    case 'direct':
    case 'international':
      return createP2VideoProvider({ ...dependencies, channel })
    case 'proxy':
      return createP2ProxyVideoProvider({ ...dependencies, channel })
    default:
      return channel.route satisfies never
  }
}
