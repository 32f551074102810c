import type { ApiTime } from './time.ts'

/** One page of a list. */
export type ListPage<Row> = {
  readonly data: readonly Row[]
  readonly has_more: boolean
  /** The cursor of the page after this one; null on the last page. */
  readonly next: string | null
  /** A time of the API. */
  readonly as_of?: ApiTime
  /** What the rows do not contain, in a sentence of the gateway. */
  readonly left_out?: string | null
}

/** A page with its rows as `data`: operations that are defined once name them after what they are, such as `keys`. */
export function toListPage<Row>(page: object): ListPage<Row> {
  const rows: readonly Row[] =
    Object.values(page).find((field) => Array.isArray(field) && typeof field[0] !== 'string') ?? []
  return { data: rows, ...(page as Omit<ListPage<Row>, 'data'>) }
}

/**
 * Every page of a list, one after another. A filtered page may be empty and still have a successor.
 * @throws Error if the list says that it goes on and gives no new cursor, because a part must not look like the whole.
 */
export async function* listPages<Row>(
  readPage: (after: string | undefined) => Promise<ListPage<Row>>,
): AsyncGenerator<ListPage<Row>> {
  let after: string | undefined
  for (;;) {
    const page = await readPage(after)
    yield page
    if (!page.has_more) {
      return
    }
    if (page.next === null || page.next === after) {
      throw new Error('the list has more rows and gives no cursor to them')
    }
    after = page.next
  }
}

/** What rows in hand are as a list: one page that is also the last. */
export function onePage<Row>(data: readonly Row[], leftOut: string | null = null): ListPage<Row> {
  return { data, has_more: false, next: null, left_out: leftOut }
}

/** The sentences about what these pages do not contain, each once; null if the pages are whole. */
export function leftOutOf(pages: readonly Pick<ListPage<unknown>, 'left_out'>[]): string | null {
  const sentences = new Set(pages.flatMap(({ left_out }) => (left_out ? [left_out] : [])))
  return sentences.size === 0 ? null : [...sentences].join('; ')
}
