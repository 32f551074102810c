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
