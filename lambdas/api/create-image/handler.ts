import { relayHandlers } from '../../relay/relay-handler.ts'
import { createImage } from './create-image.ts'

/** POST /v1/images/generations */
export const { handler, streamHandler } = relayHandlers('create-image', createImage)
