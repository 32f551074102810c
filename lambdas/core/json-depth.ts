/** Whether JSON text nests deeper than a bound. Looks at brackets outside of strings only; linear, without recursion. */
export function isNestedDeeperThan(text: string, depthMax: number): boolean {
  let depth = 0
  let isInString = false
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (isInString) {
      if (character === '\\') {
        index += 1
      } else if (character === '"') {
        isInString = false
      }
    } else if (character === '"') {
      isInString = true
    } else if (character === '{' || character === '[') {
      depth += 1
      if (depth > depthMax) {
        return true
      }
    } else if (character === '}' || character === ']') {
      depth -= 1
    }
  }
  return false
}
