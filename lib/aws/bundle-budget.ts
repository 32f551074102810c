import type { Bundle } from './bundle-handler.ts'

/** Minified kilobytes (1000 bytes) of a bundle: loaded by each cold start, and deployed in total, dynamic imports included. */
export type BundleWeight = { readonly atStart: number; readonly deployed: number }

/** The most that the bundle of a function or of the relay server may weigh. The largest functions bring the SDK's client of S3. */
export const BUNDLE_BUDGET: BundleWeight = { atStart: 400, deployed: 600 }

/** Measures the code of a bundle. */
export function weighBundle({ files }: Bundle): BundleWeight {
  const weigh = (some: Bundle['files']) => some.reduce((bytes, { code }) => bytes + Buffer.byteLength(code), 0) / 1000
  return { atStart: weigh(files.filter(({ isLoadedAtStart }) => isLoadedAtStart)), deployed: weigh(files) }
}
