/**
 * The parameter flags that family A 1.x obeys inside a prompt, long and short. Each can change what is made, and so
 * what it costs, after the price was locked.
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

/** The prompt with the hyphens of every such flag turned into one en dash: the words stay, the flag is none any more. */
export function neutralizePromptFlags(prompt: string): string {
  return prompt.replace(FLAG, '–')
}
