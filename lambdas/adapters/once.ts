/** Makes a value when it is first asked for and keeps it: a client that a warm instance may never need costs nothing. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
