/** Finds the end of a JSON object that comes in pieces, each of which is read once. It does not say whether the object is valid. */
export class ObjectEnd {
  /** Whether the text begins as an object; undefined for white space alone. */
  #isObject: boolean | undefined
  #depth = 0
  #isInString = false
  #isEscaped = false

  get hasBegun(): boolean {
    return this.#isObject === true
  }

  get hasEnded(): boolean {
    return this.hasBegun && this.#depth <= 0
  }

  push(piece: string): void {
    for (const character of piece) {
      if (this.#isInString) {
        this.#isInString = this.#isEscaped || character !== '"'
        this.#isEscaped = character === '\\' && !this.#isEscaped
      } else {
        this.#readOutside(character)
      }
    }
  }

  #readOutside(character: string): void {
    if (this.#isObject === undefined && character.trim() !== '') {
      this.#isObject = character === '{'
    }
    if (character === '"') {
      this.#isInString = true
    } else if (character === '{' || character === '[') {
      this.#depth += 1
    } else if (character === '}' || character === ']') {
      this.#depth -= 1
    }
  }
}
