import { keyLabel } from '../core/key-label.ts'
import { Nothing } from './amount.tsx'
import { Id } from './copy.tsx'

type KeyNameProps = { readonly id: string | null | undefined; readonly name: string | null | undefined }

/** A key by its name, whose title is the id; by its id where it has no name. */
export function KeyName({ id, name }: KeyNameProps) {
  if (id === null || id === undefined) {
    return <Nothing />
  }
  const label = keyLabel(id, name)
  return label === id ? <Id value={id} label="key id" /> : <span title={id}>{label}</span>
}
