import { UsageError } from '../../terminal/usage-error.ts'

/** The options and parameters of a command line by name: options without dashes, parameters as `NAME`. */
export class CommandValues {
  readonly #values: ReadonlyMap<string, string | true>

  constructor(values: ReadonlyMap<string, string | true>) {
    this.#values = values
  }

  /** The value of an option; undefined if it was not given. */
  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return value === true ? undefined : value
  }

  /** The value of a required option or parameter; a command line without it has been refused before. @throws UsageError. */
  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) {
      throw new UsageError(`${name === name.toUpperCase() ? name : `--${name}`} is missing`)
    }
    return value
  }

  /** Whether a switch was given. */
  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** A whole number from 1, in plain digits; undefined if the option was not given. @throws UsageError for anything else. */
  count(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) {
      return undefined
    }
    const count = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
      throw new UsageError(`--${name} ${text}: use a whole number from 1`)
    }
    return count
  }
}
