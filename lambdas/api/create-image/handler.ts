import { image } from '../../relay/protocols/image.ts'
import { relayHandlers } from '../../relay/relay-handler.ts'

/** POST /v1/images/generations */
export const { handler, streamHandler } = relayHandlers(image)
