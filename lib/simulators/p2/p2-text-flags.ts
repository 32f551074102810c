/** Parameters written into a prompt; a bad value is as good as none. */
type P2TextFlags = { readonly resolution?: string; readonly ratio?: string; readonly duration?: number }

const FLAG = /(?:^|\s)--(rs|resolution|rt|ratio|dur|duration)\s+(\S+)/g

/** Reads the old way of giving parameters, ` --rs 1080p` at the end of the text, which 1.x models still obey. */
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
