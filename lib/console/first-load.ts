import { gzipSync } from 'node:zlib'
import type { ConsoleFile } from './console-files.ts'

/** What the first page of the console may weigh in all, in bytes of gzip. */
export const FIRST_LOAD_BYTES_MAX = 60_000

/** The overview, which the page at `/console` loads at once. */
const FIRST_PAGE = /^assets\/overview-page-[\w-]+\.(js|css)$/

/** One file of a load with its weight in bytes of gzip at level 9. */
export type WeighedFile = { readonly name: string; readonly bytes: number }

/**
 * The files that a browser loads before it shows the first page: the html, all that it names, the overview, and every script that one of
 * these imports at once.
 */
export function firstLoad(files: ReadonlyMap<string, ConsoleFile>): readonly WeighedFile[] {
  const names = new Set(['index.html', ...[...files.keys()].filter((name) => FIRST_PAGE.test(name))])
  for (const name of names) {
    for (const named of filesNamedBy(name, files.get(name)?.bytes.toString() ?? '')) {
      names.add(named)
    }
  }
  return [...names].map((name) => ({ name, bytes: gzipSync(files.get(name)?.bytes ?? '', { level: 9 }).length }))
}

/** Files that the html refers to, and static imports of a script; lazy imports are no part of a first load. */
function filesNamedBy(name: string, content: string): string[] {
  if (name === 'index.html') {
    return [...content.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, file = '']) => file)
  }
  const imports = name.endsWith('.js') ? content.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+)["']/g) : []
  return [...imports].map(([, file]) => `assets/${file}`)
}
