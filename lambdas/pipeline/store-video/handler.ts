import { stepHandler } from '../step-handler.ts'
import { storeVideo } from './store-video.ts'

/** State `Store`. */
export const handler = stepHandler(storeVideo)
