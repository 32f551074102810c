/** Every way to change a signed url of one's own, each with its name; `other` is the url of another tenant's video. */
export function tamperedUrls(own: string, other: string): [string, string][] {
  const changed = (change: (url: URL) => void) => {
    const url = new URL(own)
    change(url)
    return url.href
  }
  const member = (name: string, from = own) => new URL(from).searchParams.get(name) ?? ''
  const set = (name: string, change: (value: string) => string) =>
    changed((url) => url.searchParams.set(name, change(member(name))))
  const folder = (url: string) => new URL(url).pathname.split('/')[2] ?? ''
  const file = (url: string) => new URL(url).pathname.split('/')[3] ?? ''
  const query = (url: string) => url.slice(url.indexOf('?'))
  return [
    ['with another tenant’s path', new URL(other).origin + new URL(other).pathname + query(own)],
    ['with another tenant’s query', own.replace(query(own), query(other))],
    ['with another tenant’s signature', set('Signature', () => member('Signature', other))],
    ['with another job’s folder', own.replace(folder(own), folder(other))],
    ['with another job’s file', own.replace(file(own), file(other))],
    ['below another prefix', own.replace('/v/', '/v/texts/')],
    ['with a doubled slash', own.replace('/v/', '/v//')],
    ['with a path that goes on', own.replace('?', '/?')],
    ['with a later end', set('Expires', (end) => String(Number(end) + 1))],
    ['with an earlier end', set('Expires', (end) => String(Number(end) - 1))],
    ['with a zero before its end', set('Expires', (end) => `0${end}`)],
    ['with another first letter', set('Signature', (text) => (text[0] === 'A' ? 'B' : 'A') + text.slice(1))],
    ['with its last bits changed', set('Signature', changeUnusedBits)],
    ['with a letter that means nothing', set('Signature', (text) => `${text}!`)],
    ['with a signature cut short', set('Signature', (text) => text.slice(0, -4))],
    ['with another key', set('Key-Pair-Id', (id) => `${id}2`)],
    ['with a policy of its own', `${own}&Policy=e30_`],
    ['with a member more', `${own}&download=1`],
    ...['Expires', 'Signature', 'Key-Pair-Id'].flatMap((name): [string, string][] => [
      [`without ${name}`, changed((url) => url.searchParams.delete(name))],
      [`with an empty ${name}`, set(name, () => '')],
      [`with the same ${name} twice`, `${own}&${name}=${member(name)}`],
      [`with another ${name} behind it`, `${own}&${name}=9999999999`],
      [`with another ${name} before it`, own.replace('?', `?${name}=9999999999&`)],
    ]),
  ]
}

/** The last letter before the padding holds four bits that no byte comes from. */
function changeUnusedBits(signature: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-~'
  const text = signature.replace(/_+$/, '')
  const last = letters.indexOf(text.slice(-1))
  return `${text.slice(0, -1)}${letters[last ^ 1]}${signature.slice(text.length)}`
}
