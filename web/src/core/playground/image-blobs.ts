import { counted } from '../plural.ts'

/** The first bytes of the formats that a browser may show, in base64. An SVG could hold a script and is not among them. */
const TYPES: readonly (readonly [prefix: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
]

/** The images of a response, with a note for each missing one. Urls of an upstream are never opened. */
export function imageBlobs(response: unknown): { readonly blobs: readonly Blob[]; readonly note: string | undefined } {
  const data = (response as { readonly data?: unknown } | null)?.data
  const entries = Array.isArray(data) ? (data as readonly { readonly b64_json?: unknown }[]) : []
  const blobs = entries.flatMap((entry) => toBlob(entry?.b64_json))
  const missing = entries.length - blobs.length
  return {
    blobs,
    note:
      missing === 0
        ? undefined
        : `Not shown, because they are urls or of an unknown format: ${missing} of ${counted(entries.length, 'image')}`,
  }
}

function toBlob(base64: unknown): readonly Blob[] {
  if (typeof base64 !== 'string') {
    return []
  }
  const type = TYPES.find(([prefix]) => base64.startsWith(prefix))?.[1]
  return type === undefined
    ? []
    : [new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type })]
}
