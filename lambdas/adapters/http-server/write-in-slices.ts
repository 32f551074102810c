import type { ServerResponse } from 'node:http'

/** Bytes per write, so that the progress of a slow client shows after each slice. */
export const SLICE_BYTES = 256 * 1024

type Writing = {
  /** The client has read a slice. */
  readonly onTaken: () => void
  /** Everything is handed over, and there is room for more. */
  readonly onDone: () => void
}

/** Writes bytes to a response at the pace of its client. No callback is called after the client has left. */
export function writeInSlices(response: ServerResponse, bytes: Buffer, { onTaken, onDone }: Writing): void {
  let at = 0
  const goOn = () => {
    while (at < bytes.length) {
      const slice = bytes.subarray(at, at + SLICE_BYTES)
      at += slice.length
      if (!response.write(slice)) {
        response.once('drain', () => {
          onTaken()
          goOn()
        })
        return
      }
    }
    onDone()
  }
  goOn()
}
