import type { Bundle } from './bundle-handler.ts'

/** Minified kilobytes (1000 bytes) of a bundle: loaded by each cold start, and deployed in total, dynamic imports included. */
export type BundleWeight = { readonly atStart: number; readonly deployed: number }

/** The largest function of the API stores videos with the SDK's client of S3. */
const BUDGET: BundleWeight = { atStart: 400, deployed: 600 }

/**
 * One function makes every change of the console. It checks requests with the whole of zod, and few people wait for its cold starts, so it
 * may be heavier than a function that serves clients.
 */
const WRITE_BUDGET: BundleWeight = { atStart: 470, deployed: 650 }

/** The most that the bundle of a function may weigh. @param folder below `lambdas/`. */
export function bundleBudget(folder: string): BundleWeight {
  return folder === 'admin-api/write' ? WRITE_BUDGET : BUDGET
}

/** Measures the code of a bundle. */
export function weighBundle({ files }: Bundle): BundleWeight {
  const weigh = (some: Bundle['files']) => some.reduce((bytes, { code }) => bytes + Buffer.byteLength(code), 0) / 1000
  return { atStart: weigh(files.filter(({ isLoadedAtStart }) => isLoadedAtStart)), deployed: weigh(files) }
}
