import { useEffect, useState } from 'preact/hooks'

/** Long enough that a word is not quoted letter by letter. */
const PAUSE_MILLISECONDS = 350

/** The value, once it has not changed for a moment. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), PAUSE_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
