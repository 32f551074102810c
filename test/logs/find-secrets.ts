/** What no log may hold, by what it would look like. */
const SECRETS: Readonly<Record<string, RegExp>> = {
  'an API key': /rg_(live|admin)_\w/,
  'a token of a session': /\b[0-9A-Za-z]{16}\.(n|[ak][0-9A-Za-z]{8})\.[0-9A-Za-z_-]{43}/,
  'a token of an issuer': /\beyJ[\w-]+\.eyJ[\w-]*/,
  'a callback secret': /whsec_\w/,
  'a signature of a callback': /\bv1,[A-Za-z0-9+/]{20,}/,
  'an Authorization header': /\bauthorization\W{1,4}(?!bearer <key>)\w|\bbearer [\w.~+/-]{3,}/i,
  'a signed url': /[?&](Signature|Key-Pair-Id|X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token)=/i,
  'a private key': /PRIVATE KEY/,
  "an upstream's key": /\b(upstream-key|secret-key|e2e-key|upstream-credential-of-this-test|sk-secret)\b/,
  'a prompt':
    /\b(a boat|a fox|a cat|a paper city|a city|Tell me a story|Once upon|secret words|nobody else may read)\b/,
}

/** Where a line was written to: standard output may be a person's, who has asked for a key. */
export type LogStream = 'stdout' | 'stderr'

/** One line that holds what it must not. */
export type FoundSecret = { readonly kind: string; readonly line: string }

/** Longer lines are shown by their beginning. */
const SHOWN_CHARACTERS_MAX = 400

/**
 * Lines of a log that hold a secret. On standard output a log line is JSON, as Lambda's are, and everything else is an
 * answer to whoever started the command; on standard error every line counts.
 */
export function findSecrets(text: string, stream: LogStream): readonly FoundSecret[] {
  return text
    .split('\n')
    .filter((line) => stream === 'stderr' || isLogLine(line))
    .flatMap((line) =>
      Object.entries(SECRETS)
        .filter(([, pattern]) => pattern.test(line))
        .map(([kind]) => ({ kind, line: line.slice(0, SHOWN_CHARACTERS_MAX) })),
    )
}

/** A line of the logger or of the metrics. */
export function isLogLine(line: string): boolean {
  return line.startsWith('{"level":') || line.startsWith('{"_aws":')
}
