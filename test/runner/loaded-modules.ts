/** One export of a module of ours, of a library, and of the pure core. */
export { Logger } from '@aws-lambda-powertools/logger'
export { InvalidRequestError } from '#core/errors.ts'
export { logger } from '#platform/telemetry/logger.ts'
