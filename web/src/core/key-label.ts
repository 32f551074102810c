/** The begin of the ids of keys that the playground makes for sessions; they have no name. */
const PLAYGROUND = 'playground-'

/** A key as people name it: by its name, else by its id. */
export function keyLabel(id: string, name: string | null | undefined): string {
  return name ?? (id.startsWith(PLAYGROUND) ? 'playground' : id)
}
