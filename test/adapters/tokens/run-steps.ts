/** Runs work that yields between its steps to its end, without a pause. */
export function runSteps<Value>(work: Generator<void, Value>): { readonly value: Value; readonly steps: number } {
  for (let steps = 1; ; steps += 1) {
    const step = work.next()
    if (step.done) {
      return { value: step.value, steps }
    }
  }
}
