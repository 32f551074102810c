/** `v/` videos, `requests/` bodies and `texts/` upstream responses that are too large for a table item. */
export type ObjectPrefix = 'v/' | 'requests/' | 'texts/'

/**
 * Days after which an object is garbage whatever the table says: the lifecycle rules of the bucket on AWS, and what the local
 * host sweeps. A job lives 7 days, and its last store may have begun shortly before its end; its record is kept 30 days, and
 * lifecycle rules count from midnight to midnight.
 */
export const OBJECT_DAYS: Readonly<Record<ObjectPrefix, number>> = { 'v/': 9, 'requests/': 32, 'texts/': 32 }

/** Days after which the parts of an upload that nobody completed are garbage. */
export const ABANDONED_UPLOAD_DAYS = 1
