import { channelCredential, renewedCredential, soonOrNever } from '#platform/secrets.ts'
import type { ChannelContext } from './call-channel.ts'

/** What authorises the requests of a channel: its key, or in place of one a signature or a token of its role. */
export const credential: ChannelContext['credential'] = (channel) =>
  channel.auth === undefined ? channelCredential(channel) : loadAuth().then(({ authOf }) => authOf(channel))

/** What has replaced a credential that the upstream refused. */
export const renewed: NonNullable<ChannelContext['renewedCredential']> = (channel, refused) =>
  typeof refused === 'string'
    ? renewedCredential(channel, refused)
    : soonOrNever(loadAuth().then(({ replacedAuth }) => replacedAuth(channel, refused)))

/** Cold starts do not load it where no channel needs it. */
function loadAuth() {
  return import('#platform/upstream-auth/upstream-auth.ts')
}
