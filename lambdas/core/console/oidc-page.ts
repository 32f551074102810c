/** A page that the browser shows after it was at an OpenID provider. */
type Page = { readonly title: string; readonly lines: readonly string[]; readonly refresh?: string }

/**
 * A page that leads to the console. The callback cannot redirect: the browser would send the next request as one that the
 * provider's site caused, without the session's cookie.
 * @param url a path of the console.
 */
export function signedInPage(url: string): string {
  return pageOf({ title: 'Signed in', lines: ['You are signed in.'], refresh: url })
}

/** A page that says why nobody was signed in. Every line may hold what a provider or a user wrote. */
export function refusedPage(lines: readonly string[]): string {
  return pageOf({ title: 'Not signed in', lines })
}

/** Headers of these pages: they run no script, load nothing, and stand in no frame. */
export const OIDC_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

function pageOf({ title, lines, refresh }: Page): string {
  const meta = refresh === undefined ? '' : `<meta http-equiv="refresh" content="0;url=${escaped(refresh)}">`
  const paragraphs = lines.map((line) => `<p>${escaped(line)}</p>`).join('')
  const link = `<p><a href="${escaped(refresh ?? '/console')}">Go to the console</a></p>`
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">${meta}<title>${escaped(title)}</title></head><body><h1>${escaped(title)}</h1>${paragraphs}${link}</body></html>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
