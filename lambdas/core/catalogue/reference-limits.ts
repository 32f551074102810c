import * as z from 'zod'
import { IMAGE_FORMATS, VIDEO_FORMATS } from '../media/media-format.ts'
import { strictObject } from './strict-object.ts'

const bytesMax = z.number().int().min(1).optional().meta({ description: 'Largest file, in bytes.' })

const images = strictObject({
  formats: z.array(z.enum(IMAGE_FORMATS)).min(1).default(['jpeg', 'png', 'webp']),
  short_side_min: z.number().int().min(1).optional().meta({ description: 'Pixels of the shorter side, at least.' }),
  aspect_ratio_max: z.number().min(1).optional().meta({ description: 'Longer side by shorter side, at most.' }),
  bytes_max: bytesMax,
})

const videos = strictObject({
  formats: z.array(z.enum(VIDEO_FORMATS)).min(1).default(['mp4', 'mov']),
  frames_per_second_min: z.number().positive().optional(),
  bytes_max: bytesMax,
})

/**
 * What an upstream takes as references of a model, looked at before a job is submitted over a channel with `reference_checks`.
 * Kinds and members that are left out are not looked at; the longest video is `input_video_seconds_max`.
 */
export const referenceLimits = strictObject({ images: images.optional(), videos: videos.optional() })

/** What a model takes as reference images; lengths in pixels, sizes in bytes. */
export type ImageLimits = z.infer<typeof images>
/** What a model takes as reference videos. */
export type VideoLimits = z.infer<typeof videos>
