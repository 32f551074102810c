import type { Bundle } from './bundle-handler.ts'

/** Most minified kilobytes (1000 bytes) that a cold start loads. The largest function stores videos with the SDK's client of S3. */
export const KILOBYTES_AT_START_MAX = 400

/** Most minified kilobytes of a deployed function, dynamic imports included. */
export const KILOBYTES_DEPLOYED_MAX = 600

/** Minified kilobytes of a bundle: loaded by each cold start, and deployed in total. */
export type BundleWeight = { readonly atStart: number; readonly deployed: number }

/** Measures the code of a bundle. */
export function weighBundle({ files }: Bundle): BundleWeight {
  const weigh = (some: Bundle['files']) => some.reduce((bytes, { code }) => bytes + Buffer.byteLength(code), 0) / 1000
  return { atStart: weigh(files.filter(({ isLoadedAtStart }) => isLoadedAtStart)), deployed: weigh(files) }
}
