import { Nothing } from './amount.tsx'
import { Id } from './copy.tsx'

type KeyNameProps = { readonly id: string | null | undefined; readonly name: string | null | undefined }

/** A key by its name, whose title is the id; by its id where it has no name. */
export function KeyName({ id, name }: KeyNameProps) {
  if (id === null || id === undefined) {
    return <Nothing />
  }
  return name === null || name === undefined ? <Id value={id} label="key id" /> : <span title={id}>{name}</span>
}
