/**
 * The header by which the front door proves itself to the API. CloudFront adds its secret value to each request and replaces what a
 * viewer sends under this name. Where only the time limit of a response depends on the header, its presence is enough: a client that
 * sends it to the API's own address shortens its own wait.
 */
export const FRONT_DOOR_HEADER = 'x-reelgate-front-door'

/** The address of the viewer, set by the front door; valid only beside the right value of {@link FRONT_DOOR_HEADER}. */
export const VIEWER_ADDRESS_HEADER = 'x-reelgate-viewer-address'

/** Seconds of silence after which the front door gives up a response: the most that CloudFront allows without a raised quota. */
export const FRONT_DOOR_SILENCE_SECONDS = 120
