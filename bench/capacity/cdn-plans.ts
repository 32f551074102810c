import { DOLLARS, DOLLARS_PER_MILLION } from '../list-prices.ts'

/** What one plan of CloudFront includes for its price. */
export type CdnPlan = {
  readonly name: string
  readonly dollarsMonth: number
  /** A month. */
  readonly requests: number
  readonly gigabytes: number
}

/**
 * CloudFront's flat-rate plans since November 2025, each for one distribution with its web ACL, DNS and logs, without overage charges: what
 * goes far beyond is slowed down (aws.amazon.com/cloudfront/pricing; allowances: Amazon CloudFront Developer Guide,
 * flat-rate-pricing-plan). Premium grows to $10,000 for 6 billion requests and 600 TB at about the same price for each.
 */
export const CDN_PLANS: readonly CdnPlan[] = [
  { name: 'Free', dollarsMonth: 0, requests: 1e6, gigabytes: 100 },
  { name: 'Pro', dollarsMonth: 15, requests: 10e6, gigabytes: 50_000 },
  { name: 'Business', dollarsMonth: 200, requests: 125e6, gigabytes: 50_000 },
  { name: 'Premium', dollarsMonth: 1000, requests: 500e6, gigabytes: 50_000 },
]

/** What one item of traffic, a chat or a video, takes of a plan. */
export type CdnLoad = { readonly requests: number; readonly gigabytes: number }

/** How many such items a month of the plan includes. */
export function itemsOf(plan: CdnPlan, { requests, gigabytes }: CdnLoad): number {
  return Math.floor(Math.min(plan.requests / requests, plan.gigabytes / gigabytes))
}

/** Dollars for one item without a plan. */
export function payAsYouGo({ requests, gigabytes }: CdnLoad): number {
  return (requests * DOLLARS_PER_MILLION.cdnRequests) / 1e6 + gigabytes * DOLLARS.cdnGigabyte
}
