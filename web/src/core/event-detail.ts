/** Fields that every event has and that stand elsewhere. */
const SHOWN_ELSEWHERE = new Set(['type', 'at', 'id'])

/** What an event says beside its type and its time, such as `cost 0.7` or `percent 40, eta seconds 12`. */
export function eventDetail(event: Readonly<Record<string, unknown>>): string {
  return Object.entries(event)
    .filter(([field, value]) => !SHOWN_ELSEWHERE.has(field) && value !== null && value !== undefined)
    .map(
      ([field, value]) => `${field.replaceAll('_', ' ')} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
    )
    .join(', ')
}
