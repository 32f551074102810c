import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Links of the Markdown pages below a root to files or headings that do not exist, each as `page: link`. */
export function brokenLinks(root: string): string[] {
  return globSync(['*.md', 'docs/**/*.md', 'events/**/*.md', 'lib/**/*.md', 'test/**/*.md'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).flatMap((page) => {
    const links = [...read(join(root, page)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
    return links
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? join(root, page) : join(root, dirname(page), path)
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor))
      })
      .map(([link]) => `${page}: ${link.slice(2, -1)}`)
  })
}

/** The text of a page without its code blocks. */
function read(path: string): string {
  return readFileSync(path, 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
}

/** The anchors that forges give to the headings of a page. */
function anchorsOf(path: string): Set<string> {
  const headings = [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}
