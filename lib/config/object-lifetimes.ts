/** `v/` holds videos, `requests/` bodies, and `texts/` replies of upstreams that are too large for a table item. */
export type ObjectPrefix = 'v/' | 'requests/' | 'texts/'

/**
 * Days after which an object can be deleted regardless of the table: by lifecycle rules on AWS, by a sweep on the local host. A
 * job lives 7 days, and its video may be stored shortly before the end; its record is kept 30 days. Lifecycle rules count from
 * midnight.
 */
export const OBJECT_DAYS: Readonly<Record<ObjectPrefix, number>> = { 'v/': 9, 'requests/': 32, 'texts/': 32 }

/** Days after which the parts of an incomplete upload are deleted. */
export const ABANDONED_UPLOAD_DAYS = 1
