/** The prices of a model as the API gives them; every price is a decimal string of credits. */
export type Pricing = {
  readonly billing: string
  readonly prices: readonly Readonly<Record<string, unknown>>[]
}

const UNITS: Readonly<Record<string, string>> = {
  token: 'a million tokens',
  per_second: 'a second',
  per_image: 'an image',
  per_request: 'a request',
}

/** Names of token prices; the other fields of a row say when it holds. */
const TOKEN_PRICES: readonly (readonly [field: string, word: string])[] = [
  ['input', 'in'],
  ['cached_input', 'cached'],
  ['output', 'out'],
]

/** Fields that are prices and not conditions. */
const PRICES = new Set([
  'price',
  'input',
  'output',
  'cached_input',
  'cached_input_explicit',
  'cache_write',
  'cache_write_1h',
])

/** One short sentence for each row of a price list, such as `0.14 a second, 720p`. */
export function priceWords({ billing, prices }: Pricing): string[] {
  return prices.map((row) => {
    const amounts =
      typeof row.price === 'string'
        ? row.price
        : TOKEN_PRICES.flatMap(([field, word]) =>
            typeof row[field] === 'string' ? [`${row[field]} ${word}`] : [],
          ).join(' / ')
    return [`${amounts} ${UNITS[billing] ?? billing}`, ...conditions(row)].join(', ')
  })
}

function conditions(row: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(row)
    .filter(([field, value]) => !PRICES.has(field) && value !== null && value !== 'any')
    .map(([field, value]) => {
      const word = field.replaceAll('_', ' ')
      return typeof value === 'boolean' ? `${value ? 'with' : 'without'} ${word}` : `${value}`
    })
}
