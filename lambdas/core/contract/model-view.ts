import type { Model } from '../catalogue/model.ts'

/** A model as clients see it (interface, "Model"). */
export function modelView({ id, created, owned_by }: Model) {
  return { id, object: 'model', created, owned_by } as const
}
