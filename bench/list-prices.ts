/**
 * List prices of us-east-1 in dollars per million, November 2026, without free tiers:
 * aws.amazon.com/dynamodb/pricing/on-demand, /step-functions/pricing (Standard), /api-gateway/pricing (REST, first 333
 * million), /lambda/pricing (requests only), /s3/pricing (S3 Standard).
 */
export const DOLLARS_PER_MILLION = {
  writeUnits: 0.625,
  readUnits: 0.125,
  stateTransitions: 25,
  apiRequests: 3.5,
  invocations: 0.2,
  objectWrites: 5,
} as const
