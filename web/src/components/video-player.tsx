import { useState } from 'preact/hooks'
import { Button } from './button.tsx'

type VideoPlayerProps = {
  /** Signed by the gateway for a while. */
  readonly url: string
  readonly label: string
  /** Asks for another signed url. */
  readonly renewUrl: () => Promise<string | null | undefined>
}

/** A stored video. Another url of the same video does not interrupt it; when it cannot be loaded, another try asks for a new url. */
export function VideoPlayer({ url, label, renewUrl }: VideoPlayerProps) {
  const [source, setSource] = useState(url)
  const [hasFailed, setFailed] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const renew = async () => {
    setBusy(true)
    try {
      setSource((await renewUrl()) ?? url)
      setFailed(false)
    } catch {
      // It still cannot be loaded, as the page says.
    } finally {
      setBusy(false)
    }
  }
  if (!isWebAddress(source)) {
    return null
  }
  if (hasFailed) {
    return (
      <div class="player player-waiting" role="alert">
        <p>The video cannot be loaded.</p>
        <Button icon="reload" isBusy={isBusy} onClick={() => void renew()}>
          Try again
        </Button>
      </div>
    )
  }
  return (
    // biome-ignore lint/a11y/useMediaCaption: models make no captions
    <video
      class="player"
      src={source}
      controls
      playsInline
      preload="metadata"
      aria-label={label}
      onError={() => setFailed(true)}
    />
  )
}

/** Whether a url is one of the web, and no script or data. */
export function isWebAddress(url: string): boolean {
  return /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')
}
