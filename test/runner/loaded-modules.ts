/** One export of a module of ours, of a library, and of the pure core. */
export { Logger } from '@aws-lambda-powertools/logger'
export { logger } from '#adapters/telemetry/logger.ts'
export { InvalidRequestError } from '#core/errors.ts'
