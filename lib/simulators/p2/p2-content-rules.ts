import type { P2ContentPart } from './p2-body.ts'
import type { P2ModelLine } from './p2-model-line.ts'

const VIDEOS_MAX = 3
const AUDIOS_MAX = 3

/** Returns the violated rule of roles and counts, if any. */
export function contentFault(content: readonly P2ContentPart[], line: P2ModelLine): string | undefined {
  const images = content.filter((part) => part.type === 'image_url')
  const videos = content.filter((part) => part.type === 'video_url')
  const audios = content.filter((part) => part.type === 'audio_url')
  if (line.generation === 1 && videos.length + audios.length > 0) {
    return 'this model takes neither video nor audio'
  }
  if (videos.length > VIDEOS_MAX || audios.length > AUDIOS_MAX) {
    return 'too many reference videos or audios'
  }
  if (audios.length > 0 && images.length + videos.length === 0) {
    return 'audio needs an image or a video beside it'
  }
  if (images.length + videos.length === 0 && !content.some((part) => part.type === 'text')) {
    return 'text is missing'
  }
  const roles = images.map((image) => image.role ?? (images.length === 1 ? 'first_frame' : 'none'))
  return imageFault(roles, line) ?? mixFault(roles, videos.length + audios.length)
}

function imageFault(roles: readonly string[], line: P2ModelLine): string | undefined {
  if (line.images === 'none' && roles.length > 0) {
    return 'this model takes no image'
  }
  if (line.images === 'required' && roles.length === 0) {
    return 'this model needs an image'
  }
  if (roles.includes('none')) {
    return 'with more than one image every image needs a role'
  }
  if (count(roles, 'first_frame') > 1 || count(roles, 'last_frame') > 1) {
    return 'a frame role is given twice'
  }
  if (roles.includes('last_frame') && !roles.includes('first_frame')) {
    return 'a last frame needs a first frame'
  }
  return count(roles, 'reference_image') > line.referenceImagesMax ? 'too many reference images' : undefined
}

function mixFault(roles: readonly string[], otherMedia: number): string | undefined {
  const hasFrame = roles.includes('first_frame') || roles.includes('last_frame')
  const hasReference = roles.includes('reference_image') || otherMedia > 0
  return hasFrame && hasReference ? 'first/last frame content cannot be mixed with reference media content' : undefined
}

function count(roles: readonly string[], wanted: string): number {
  return roles.filter((role) => role === wanted).length
}
