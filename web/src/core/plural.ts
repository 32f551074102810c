/** A count with its word, such as `1 row` or `1,200 rows`. @param plural is the word of all counts but one. */
export function counted(count: number, word: string, plural = `${word}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? word : plural}`
}
