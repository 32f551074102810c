/** Long enough for a browser to begin reading the file. */
const KEPT_MILLISECONDS = 10_000

/** Hands a file that the page has made to the browser's downloads. */
export function saveFile(name: string, parts: readonly string[], type = 'text/csv;charset=utf-8'): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MILLISECONDS)
}
