import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * IPv4 ranges outside the public internet: the IANA special-purpose registry without its few globally reachable entries,
 * multicast, the reserved end of the space, and one public-looking address that a large cloud serves internally.
 */
const SPECIAL_IPV4: ReadonlyArray<readonly [network: string, prefixBits: number]> = [
  ['0.0.0.0', 8], // "this network": Linux connects 0.0.0.0 to itself
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT, and the metadata service of one cloud
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // the host agent of one cloud
  ['169.254.0.0', 16], // link-local: instance metadata, container credentials, tracing daemon
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays, deprecated
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

/**
 * All global unicast IPv6 addresses are in 2000::/3. Everything outside is refused: loopback, unspecified, mapped, compatible
 * and translated IPv4, NAT64 (64:ff9b::), unique local, link-local, multicast.
 */
const GLOBAL_IPV6: readonly [network: string, prefixBits: number] = ['2000::', 3]

/** The special ranges inside 2000::/3. */
const SPECIAL_IPV6: ReadonlyArray<readonly [network: string, prefixBits: number]> = [
  ['2001::', 23], // protocol assignments: Teredo (carries IPv4), benchmarking, ORCHID, multicast tunnelling
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4 (carries IPv4)
  ['3fff::', 20], // documentation
]

/** One list per family: in a common list, the families would be compared with each other through mapped addresses. */
const specialIpv4 = new BlockList()
for (const [network, prefixBits] of SPECIAL_IPV4) {
  specialIpv4.addSubnet(network, prefixBits, 'ipv4')
}
const globalIpv6 = new BlockList()
globalIpv6.addSubnet(...GLOBAL_IPV6, 'ipv6')
const specialIpv6 = new BlockList()
for (const [network, prefixBits] of SPECIAL_IPV6) {
  specialIpv6.addSubnet(network, prefixBits, 'ipv6')
}

/**
 * Whether an address belongs to a host on the public internet. False for every special range, for an address with a zone, and
 * for a string that is not an address in canonical form (`2130706433`, `0x7f.1`, `127.1`).
 */
export function isGlobalUnicast(address: string): boolean {
  if (isIPv4(address)) {
    return !specialIpv4.check(address, 'ipv4')
  }
  if (isIPv6(address) && !address.includes('%')) {
    return globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
  }
  return false
}
