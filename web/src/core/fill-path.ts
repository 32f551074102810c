/** A path such as `/videos/{job_id}` with its ids, each encoded. @throws Error for an id that is missing, because the path would name something else. */
export function fillPath(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name]
    if (id === undefined || id === '') {
      throw new Error(`${path} needs ${name}`)
    }
    return encodeURIComponent(id)
  })
}
