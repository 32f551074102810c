/** The upstream failed before anything of its answer reached the client: another channel may still answer. */
export class AnswerNotBegunError extends Error {
  override readonly name = 'AnswerNotBegunError'
}
