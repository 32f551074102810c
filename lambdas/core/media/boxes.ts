import { asciiAt, viewOf } from './file-bytes.ts'

/** A box of an MP4 or MOV file (ISO/IEC 14496-12, 4.2). */
export type Box = {
  readonly type: string
  /** As much of the content as the given bytes hold. */
  readonly content: Uint8Array
  /** Whether the given bytes hold all of the content. */
  readonly isWhole: boolean
}

/** The head of a box; positions in bytes. `end` is infinite for a box that extends to the end of the file. */
export type BoxHead = { readonly type: string; readonly contentStart: number; readonly end: number }

/** Longest head: size, type, and a 64-bit size if the size is 1. */
export const BOX_HEAD_BYTES_MAX = 16
const BOX_HEAD_BYTES = 8

/** Reads the head of the box at `start`; undefined if bytes are missing or the size is invalid. */
export function boxHeadAt(bytes: Uint8Array, start = 0): BoxHead | undefined {
  if (bytes.length - start < BOX_HEAD_BYTES) {
    return
  }
  const view = viewOf(bytes)
  const size = view.getUint32(start)
  const type = asciiAt(bytes, start + 4, 4)
  if (size === 1) {
    const isThere = bytes.length - start >= BOX_HEAD_BYTES_MAX
    const largeSize = isThere ? Number(view.getBigUint64(start + BOX_HEAD_BYTES)) : 0
    const isSound = largeSize >= BOX_HEAD_BYTES_MAX && Number.isSafeInteger(start + largeSize)
    return isSound ? { type, contentStart: start + BOX_HEAD_BYTES_MAX, end: start + largeSize } : undefined
  }
  if (size === 0) {
    return { type, contentStart: start + BOX_HEAD_BYTES, end: Number.POSITIVE_INFINITY }
  }
  return size < BOX_HEAD_BYTES ? undefined : { type, contentStart: start + BOX_HEAD_BYTES, end: start + size }
}

/** Yields adjacent boxes up to the first invalid one. Each is at least eight bytes long. */
export function* boxesIn(bytes: Uint8Array): Generator<Box> {
  let start = 0
  while (start < bytes.length) {
    const head = boxHeadAt(bytes, start)
    if (head === undefined) {
      return
    }
    const content = bytes.subarray(head.contentStart, Math.min(head.end, bytes.length))
    yield { type: head.type, content, isWhole: head.end <= bytes.length }
    start = head.end
  }
}

/** The first box of this type. */
export function findBox(bytes: Uint8Array | undefined, type: string): Box | undefined {
  for (const box of boxesIn(bytes ?? new Uint8Array())) {
    if (box.type === type) {
      return box
    }
  }
  return
}
