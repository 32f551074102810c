import type { TokenPrices } from '../catalogue/token-prices.ts'
import { type Microcredits, parseCredits } from '../money/money.ts'
import { INPUT_PARTS, type TokenCounts } from './token-counts.ts'

/** The price of a million tokens of each part of a usage. */
type TokenRates = Readonly<Record<Exclude<keyof TokenCounts, 'isCorrected'>, Microcredits>>

/** A row of the configuration never changes, and every request of its model reads its rates several times. */
const knownRates = new WeakMap<TokenPrices, TokenRates>()

/** The rates of a price row: an explicit cache costs what another costs, a cache and a write what fresh input costs. */
export function tokenRates(prices: TokenPrices): TokenRates {
  const known = knownRates.get(prices)
  if (known !== undefined) {
    return known
  }
  const rates = readRates(prices)
  knownRates.set(prices, rates)
  return rates
}

function readRates(prices: TokenPrices): TokenRates {
  const input = prices.input
  const cached = prices.cached_input ?? input
  const write = prices.cache_write ?? input
  return {
    input: parseCredits(input),
    cachedInput: parseCredits(cached),
    cachedInputExplicit: parseCredits(prices.cached_input_explicit ?? cached),
    cacheWrite: parseCredits(write),
    cacheWrite1h: parseCredits(prices.cache_write_1h ?? write),
    output: parseCredits(prices.output),
  }
}

/** The highest rate of any input: what a reservation is made for, because all of a prompt may be written to a cache. */
export function highestInputRate(rates: TokenRates): Microcredits {
  return INPUT_PARTS.map((part) => rates[part]).reduce((highest, rate) => (rate > highest ? rate : highest))
}

/** Counts times rates. Divided by a million, this is an amount in microcredits: the unit is a millionth of one. */
export function ratedCounts(counts: TokenCounts, rates: TokenRates): bigint {
  return [...INPUT_PARTS, 'output' as const].reduce((sum, part) => sum + BigInt(counts[part]) * rates[part], 0n)
}
