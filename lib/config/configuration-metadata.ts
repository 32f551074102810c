/**
 * Member of a deployed template's `Metadata` that holds the validated gateway configuration, as the functions have it:
 * variables filled in, simulators left out, upstreams' keys by name only. GetTemplate reads back what is deployed.
 */
export const CONFIGURATION_METADATA = 'ReelgateConfiguration'
