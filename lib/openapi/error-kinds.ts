import type { ErrorShape } from '#core/contract/routes.ts'

import type { ErrorKindDocument } from './error-causes.ts'
import { OPENAI_ERRORS } from './openai-errors.ts'
import { VIDEO_ERRORS } from './video-errors.ts'

/** Every error status of a shape. A status that a route declares and that is not here cannot be documented. */
export const ERRORS: Readonly<Record<ErrorShape, Readonly<Record<number, ErrorKindDocument>>>> = {
  video: VIDEO_ERRORS,
  openai: OPENAI_ERRORS,
}
