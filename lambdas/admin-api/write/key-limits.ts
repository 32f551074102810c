import { InvalidRequestError } from '#core/errors.ts'
import type { WriteContext } from './write-context.ts'

/** @throws InvalidRequestError for an end that is not in the future. */
export function requireFuture(endSeconds: number | null | undefined, { nowMilliseconds }: WriteContext): void {
  if (typeof endSeconds === 'number' && endSeconds * 1000 <= nowMilliseconds()) {
    throw new InvalidRequestError([{ path: 'expires_at', message: 'use a time in the future, in Unix seconds' }])
  }
}

/**
 * @param kept models that the key has already: the configuration may have lost them.
 * @throws InvalidRequestError for a model that the configuration does not have.
 */
export function requireKnownModels(
  models: readonly string[] | null | undefined,
  { openCatalogue }: WriteContext,
  kept: readonly string[] = [],
): void {
  const known = new Set([...openCatalogue().config.models.map(({ id }) => id), ...kept])
  for (const [index, model] of (models ?? []).entries()) {
    if (!known.has(model)) {
      throw new InvalidRequestError([
        {
          path: `models.${index}`,
          message: 'the configuration has no such model: `GET /admin/v1/channels` lists them',
        },
      ])
    }
  }
}
