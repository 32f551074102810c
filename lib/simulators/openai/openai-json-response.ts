import type { OpenAiMagic } from './openai-magic-prompt.ts'
import type { PacedResponse } from './openai-paced-response.ts'

/** A whole body. */
export type WholeBody = {
  readonly status: number
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Writes a body at once, unless the magic words truncate, interrupt or enlarge it. */
export async function writeWholeBody(paced: PacedResponse, body: WholeBody, magic: OpenAiMagic): Promise<void> {
  const text = Buffer.from(body.text)
  // White space after a JSON value does not change the value.
  const bytes = text.length < magic.bytesMin ? Buffer.concat([text], magic.bytesMin).fill(' ', text.length) : text
  paced.open(body.status, { 'content-type': body.contentType, ...body.headers, 'content-length': bytes.length })
  const middle = Math.floor(bytes.length / 2)
  const write = (part: Buffer) => (magic.flags.has('slices') ? paced.writeSliced(part) : paced.write(part))
  if (magic.cutAfter === undefined && magic.pauseMilliseconds === 0) {
    await write(bytes)
    paced.end()
    return
  }
  await write(magic.cutAfter === 0 ? Buffer.alloc(0) : bytes.subarray(0, middle))
  await paced.wait(magic.pauseMilliseconds)
  if (magic.cutAfter !== undefined) {
    paced.cut()
    return
  }
  await write(bytes.subarray(middle))
  paced.end()
}
