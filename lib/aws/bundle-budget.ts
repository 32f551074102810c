import type { Bundle } from './bundle-handler.ts'

/** Minified kilobytes (1000 bytes) that a cold start may load; the largest function reads requests with all of zod. */
export const KILOBYTES_AT_START_MAX = 400

/** Minified kilobytes of all that a function is deployed with, what it loads only when needed included. */
export const KILOBYTES_DEPLOYED_MAX = 600

/** Minified kilobytes: what each cold start loads, and all that is deployed. */
export type BundleWeight = { readonly atStart: number; readonly deployed: number }

/** Weighs a bundle by the bytes of its code. */
export function weighBundle({ files }: Bundle): BundleWeight {
  const weigh = (some: Bundle['files']) => some.reduce((bytes, { code }) => bytes + Buffer.byteLength(code), 0) / 1000
  return { atStart: weigh(files.filter(({ isLoadedAtStart }) => isLoadedAtStart)), deployed: weigh(files) }
}
