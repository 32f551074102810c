/**
 * List prices of us-east-1 in dollars per million, November 2026, without free tiers:
 * aws.amazon.com/dynamodb/pricing/on-demand, /step-functions/pricing (Standard), /api-gateway/pricing (REST, first 333
 * million), /lambda/pricing (requests only), /s3/pricing (S3 Standard), /cloudfront/pricing (https, Europe and North
 * America), /waf/pricing, /xray/pricing, /eventbridge/pricing.
 */
export const DOLLARS_PER_MILLION = {
  writeUnits: 0.625,
  readUnits: 0.125,
  stateTransitions: 25,
  apiRequests: 3.5,
  invocations: 0.2,
  objectWrites: 5,
  objectReads: 0.4,
  cdnRequests: 1,
  tracesRecorded: 5,
  /** EventBridge Scheduler. */
  scheduledCalls: 1,
} as const

/** List prices of us-east-1 in dollars for one unit, November 2026, first tier, without free tiers. */
export const DOLLARS = {
  /** Lambda, arm64. */
  gigabyteSecond: 0.0000133334,
  /** CloudWatch Logs, ingested. */
  logGigabyte: 0.5,
  /** S3 Standard, a month. */
  storedGigabyteMonth: 0.023,
  /** CloudFront to Europe and North America, first 10 TB. */
  cdnGigabyte: 0.085,
  /** Out of a region to the internet, first 10 TB. CloudFront fetches from AWS without it. */
  transferGigabyte: 0.09,
  /** AWS WAF, a web ACL and each of its rules, a month. */
  webAclMonth: 5,
  webAclRuleMonth: 1,
  /** CloudWatch, each metric that an alarm looks at, a month. */
  alarmMetricMonth: 0.1,
  /** CloudWatch, a custom metric with data in every hour, a month; first 10,000. */
  metricMonth: 0.3,
  /** Secrets Manager, a month. */
  secretMonth: 0.4,
} as const
