import type { Model } from '../catalogue/model.ts'

/** A model as the interface shows it ("Model"). */
export function modelView({ id, created, owned_by }: Model) {
  return { id, object: 'model', created, owned_by } as const
}
