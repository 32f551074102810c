import { useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.ts'

/**
 * A rotation, which the API refuses while an earlier one is under way. The next try after that refusal says that another one is meant.
 * @param rotate gets whether it is that next try.
 */
export function useRotation(rotate: (isAgain: boolean) => Promise<void>) {
  const [isAgain, setAgain] = useState(false)
  const run = async () => {
    try {
      await rotate(isAgain)
    } catch (failure) {
      setAgain(failure instanceof ApiError && failure.code === 'rotated_already')
      throw failure
    }
  }
  return { isAgain, run }
}
