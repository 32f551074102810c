/** Creates a value at the first call and keeps it, so that an instance creates only the clients that it uses. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
