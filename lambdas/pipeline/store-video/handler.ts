import { stepHandler } from '../step-context.ts'
import { storeVideo } from './store-video.ts'

/** State `Store`. */
export const handler = stepHandler(storeVideo)
