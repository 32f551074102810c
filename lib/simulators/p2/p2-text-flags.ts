/** Parameters in a prompt; invalid values are ignored. */
type P2TextFlags = { readonly resolution?: string; readonly ratio?: string; readonly duration?: number }

const FLAG = /(?:^|\s)--(rs|resolution|rt|ratio|dur|duration)\s+(\S+)/g

/** Reads parameters at the end of the prompt, such as ` --rs 1080p`, which 1.x models still support. */
export function textFlags(prompt: string): P2TextFlags {
  const values = new Map([...prompt.matchAll(FLAG)].map((match) => [match[1] ?? '', match[2] ?? '']))
  const resolution = values.get('rs') ?? values.get('resolution')
  const ratio = values.get('rt') ?? values.get('ratio')
  const duration = values.get('dur') ?? values.get('duration')
  return {
    ...(resolution !== undefined && { resolution: resolution.toLowerCase() }),
    ...(ratio !== undefined && { ratio }),
    ...(duration !== undefined && /^\d+$/.test(duration) && { duration: Number(duration) }),
  }
}
