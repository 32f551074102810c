/** Groups of an IPv6 address that name a network, of which one person has the whole rest. */
const NETWORK_GROUPS = 4

const IPV4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/i

/** An address as sign-ins are counted: an IPv4 address as it is, an IPv6 address by its network of 64 bits. */
export function addressOfSignIn(address: string): string {
  const ipv4 = IPV4.exec(address)?.[1]
  if (ipv4 !== undefined) {
    return ipv4
  }
  return address.includes(':') ? `${networkOf(address)}::/64` : address.slice(0, ADDRESS_CHARACTERS_MAX)
}

/** Longer than any address. */
const ADDRESS_CHARACTERS_MAX = 64

function networkOf(address: string): string {
  const [front = '', back] = address.toLowerCase().split('%', 1).join('').split('::', 2)
  const head = groupsOf(front)
  const tail = back === undefined ? [] : groupsOf(back)
  const missing = Math.max(0, 8 - head.length - tail.length)
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...tail]
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.slice(0, 4).replace(/^0+(?=.)/, ''))
    .join(':')
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':')
}
