/**
 * The key in a template's `Metadata` that holds the validated gateway configuration of the functions: variables substituted,
 * simulators left out, keys of upstreams by name only. GetTemplate reads the deployed configuration from there.
 */
export const CONFIGURATION_METADATA = 'ReelgateConfiguration'
