/** A part of a file. A header can be read from a few windows, without the rest of the file. */
export type FileWindow = { readonly offset: number; readonly bytes: Uint8Array }

/** Bytes of a file that a reader still needs. */
export type WantedBytes = { readonly offset: number; readonly length: number }

/** The longest run of at most `length` bytes from `offset` on in one window; undefined if no window covers `offset`. */
export function bytesFrom(windows: readonly FileWindow[], offset: number, length: number): Uint8Array | undefined {
  const found = windows
    .filter((window) => window.offset <= offset && offset < window.offset + window.bytes.length)
    .map((window) => window.bytes.subarray(offset - window.offset, offset - window.offset + length))
  return found.toSorted((left, right) => right.length - left.length)[0]
}

/** Exactly these bytes; undefined if no single window holds all of them. */
export function bytesAt(windows: readonly FileWindow[], { offset, length }: WantedBytes): Uint8Array | undefined {
  const bytes = bytesFrom(windows, offset, length)
  return bytes?.length === length ? bytes : undefined
}

/** The string of some bytes, one character per byte. */
export function asciiAt(bytes: Uint8Array, start: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(start, start + length))
}

/** A view for reads at fixed positions; the caller has checked the length. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
