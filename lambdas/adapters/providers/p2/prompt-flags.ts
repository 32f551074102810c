/**
 * The parameter flags, long and short, that family A 1.x obeys inside a prompt. Each can change the video, and so its cost,
 * after the price was reserved.
 */
const FLAG_NAMES = [
  'rs',
  'resolution',
  'rt',
  'ratio',
  'dur',
  'duration',
  'frames',
  'fps',
  'frames_?per_?second',
  'seed',
  'cf',
  'camera_?fixed',
  'wm',
  'watermark',
  'generate_?audio',
]

const FLAG = new RegExp(`-{2,}\\s*(?=(?:${FLAG_NAMES.join('|')})(?![a-z]))`, 'gi')

/** Replaces the hyphens of every flag by one en dash, so that the words stay and the model sees no flag. */
export function neutralizePromptFlags(prompt: string): string {
  return prompt.replace(FLAG, '–')
}
