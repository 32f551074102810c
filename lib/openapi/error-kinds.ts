import type { ErrorShape } from '#core/api/routes.ts'

import type { ErrorKindDocument } from './error-causes.ts'
import { OPENAI_ERRORS } from './openai-errors.ts'
import { VIDEO_ERRORS } from './video-errors.ts'

/** Every error status of each shape. `responsesOf` throws for a declared status that is missing here. */
export const ERRORS: Readonly<Record<ErrorShape, Readonly<Record<number, ErrorKindDocument>>>> = {
  video: VIDEO_ERRORS,
  openai: OPENAI_ERRORS,
}
