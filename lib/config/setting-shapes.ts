import * as z from 'zod'

/** A setting that is true or false. */
export const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'must be true or false',
})

/** A setting that is on or off; true and false mean the same. */
export const onOrOff = z.union([z.enum(['on', 'off']), flag.transform((isOn): 'on' | 'off' => (isOn ? 'on' : 'off'))], {
  error: 'must be on or off',
})

/** A string of one form. @param error completes the sentence "the context setting KEY ...". */
export function matching(pattern: RegExp, error: string) {
  return z.string({ error }).regex(pattern, error)
}

/** An integer, as `-c key=value` gives it too. Bounds are inclusive. */
export function wholeNumber(min: number, max: number, unit: string) {
  const error = `must be an integer from ${min.toLocaleString('en')} to ${max.toLocaleString('en')} (${unit})`
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d{1,12}$/)
          .transform(Number),
      ],
      { error },
    )
    .pipe(z.int({ error }).min(min, error).max(max, error))
}
