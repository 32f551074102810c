import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A Markdown table; empty without rows. Bars inside cells are escaped. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return rows.length === 0 ? '' : [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Inline code. */
export function code(text: string): string {
  return `\`${text}\``
}

type Section = { readonly name: string; readonly command: string; readonly content: string }

/**
 * A page with the content between the two markers of a section, `<!-- NAME: written by npm run COMMAND -->` and
 * `<!-- end of NAME -->`.
 * @throws TypeError for a page without the markers.
 */
export function withSection(page: string, { name, command, content }: Section): string {
  const begin = `<!-- ${name}: written by npm run ${command} -->`
  const end = `<!-- end of ${name} -->`
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from === -1 || to < from) {
    throw new TypeError(`the page has no "${begin}" followed by "${end}"`)
  }
  return `${page.slice(0, from + begin.length)}\n\n${content}\n\n${page.slice(to)}`
}

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
