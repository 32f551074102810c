import * as z from 'zod'
import { IMAGE_FORMATS, VIDEO_FORMATS } from '../media/media-format.ts'
import { strictObject } from './strict-object.ts'

const bytesMax = z.number().int().min(1).optional().meta({ description: 'Largest file, in bytes.' })

const images = strictObject({
  formats: z.array(z.enum(IMAGE_FORMATS)).min(1).default(['jpeg', 'png', 'webp']),
  short_side_min: z.number().int().min(1).optional().meta({ description: 'Fewest pixels of the shorter side.' }),
  aspect_ratio_max: z
    .number()
    .min(1)
    .optional()
    .meta({ description: 'Largest ratio of the longer to the shorter side.' }),
  bytes_max: bytesMax,
})

const videos = strictObject({
  formats: z.array(z.enum(VIDEO_FORMATS)).min(1).default(['mp4', 'mov']),
  frames_per_second_min: z.number().positive().optional(),
  bytes_max: bytesMax,
})

/**
 * Limits of an upstream for the references of a model, checked before a submit over a channel with `reference_checks`. Missing
 * kinds and fields are not checked. The longest video is in `input_video_seconds_max`.
 */
export const referenceLimits = strictObject({ images: images.optional(), videos: videos.optional() })

/** Limits of reference images; lengths in pixels, sizes in bytes. */
export type ImageLimits = z.infer<typeof images>
/** Limits of reference videos; sizes in bytes. */
export type VideoLimits = z.infer<typeof videos>
