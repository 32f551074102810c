/** What the playground needs to know of an image model, from `GET /v1/models`. */
export type ImageModel = {
  readonly id: string
  readonly sizes?: readonly string[] | undefined
  readonly qualities?: readonly string[] | undefined
  readonly styles?: readonly string[] | undefined
  readonly n?: { readonly max: number } | undefined
}

/** What a person has chosen in the form of an image. An empty string leaves a value to the model. */
export type ImageChoice = {
  readonly prompt: string
  readonly size: string
  readonly quality: string
  readonly style: string
  readonly count: number
}

/** The form of somebody who has not chosen anything. */
export const FIRST_IMAGE_CHOICE: ImageChoice = { prompt: '', size: '', quality: '', style: '', count: 1 }

/** The values of a parameter that every model takes, in the order of the first model. */
export function sharedValues(
  models: readonly ImageModel[],
  parameter: 'sizes' | 'qualities' | 'styles',
): readonly string[] {
  const [first = [], ...others] = models.map((model) => model[parameter] ?? [])
  return first.filter((value) => others.every((values) => values.includes(value)))
}

/** How many images every model makes for one request, and which models make only one; undefined if none does. */
export function imageCountLimit(models: readonly ImageModel[]): { readonly max: number; readonly refusal?: string } {
  const max = Math.min(...models.map(({ n }) => n?.max ?? 1))
  const single = models.filter(({ n }) => (n?.max ?? 1) === 1).map(({ id }) => id)
  return single.length === 0
    ? { max }
    : { max, refusal: `${single.join(' and ')} ${single.length === 1 ? 'takes' : 'take'} one image a request` }
}

/** The choice without what the models do not take. */
export function fitImageChoice(choice: ImageChoice, models: readonly ImageModel[]): ImageChoice {
  const kept = (value: string, parameter: 'sizes' | 'qualities' | 'styles') =>
    sharedValues(models, parameter).includes(value) ? value : ''
  return {
    ...choice,
    size: kept(choice.size, 'sizes'),
    quality: kept(choice.quality, 'qualities'),
    style: kept(choice.style, 'styles'),
    count: Math.min(imageCountLimit(models).max, Math.max(1, choice.count)),
  }
}

/** The body of a request for one model. The images come inside the response: urls of an upstream are never opened. */
export function imageBody(model: string, choice: ImageChoice): Readonly<Record<string, unknown>> {
  const { prompt, size, quality, style, count } = choice
  return {
    model,
    prompt,
    n: count,
    ...(size === '' ? {} : { size }),
    ...(quality === '' ? {} : { quality }),
    ...(style === '' ? {} : { style }),
    response_format: 'b64_json',
  }
}
