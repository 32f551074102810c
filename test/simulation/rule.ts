/** @returns the sentence when the rule does not hold. */
export function rule(holds: boolean, sentence: string): string[] {
  return holds ? [] : [sentence]
}

/** The total, in the unit of the amounts. */
export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, each) => total + each, 0n)
}

/** What is there more than once. */
export function repeated(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))]
}
