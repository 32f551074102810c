import { useEffect, useRef, useState } from 'preact/hooks'
import { useAdmin } from '../../api/admin-query.ts'
import type { VideoDetail, VideoRow } from '../../api/admin-types.ts'
import { isWebAddress } from '../../components/video-player.tsx'

/** Rows this far below the window are loaded before somebody scrolls to them. */
const AHEAD = '200px'

/** More does not fit beside the poster. */
const PROMPT_CHARACTERS_MAX = 80

/** The first frame of a video and its prompt, which are read when the row comes into view: a list does not hold them. */
export function VideoPreview({ row }: { readonly row: VideoRow }) {
  const place = useRef<HTMLSpanElement>(null)
  const isSeen = useSeen(place)
  const job = useAdmin('/videos/{job_id}', { query: { tenant: row.tenant.id }, isEnabled: isSeen }, { job_id: row.id })
  return (
    <span ref={place} class="preview">
      <Poster url={job.data?.video_url ?? null} />
      <span>{job.data === undefined ? '' : promptOf(job.data)}</span>
    </span>
  )
}

/** Whether the element has been in view. */
function useSeen(place: { readonly current: Element | null }): boolean {
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (place.current === null) {
      return
    }
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) {
          setSeen(true)
          observer.disconnect()
        }
      },
      { rootMargin: AHEAD },
    )
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [place])
  return isSeen
}

/** A picture alone: the page of the job plays the video. A url that is renewed does not load the frame again. */
function Poster({ url }: { readonly url: string | null }) {
  const first = useRef(url)
  first.current ??= url
  return first.current === null || !isWebAddress(first.current) ? (
    <span class="poster" />
  ) : (
    <video class="poster" src={first.current} preload="metadata" muted playsInline tabIndex={-1} aria-hidden="true" />
  )
}

function promptOf({ request }: VideoDetail): string {
  const prompt = String(Object(request).prompt ?? '')
  return prompt.length <= PROMPT_CHARACTERS_MAX ? prompt : `${prompt.slice(0, PROMPT_CHARACTERS_MAX - 1)}…`
}
