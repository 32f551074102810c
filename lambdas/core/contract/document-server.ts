/**
 * The server in the committed OpenAPI document: the address of `npm start`. A deployment serves the document with its own
 * address, without a trailing slash, because clients append paths to it (OpenAPI 3.1, "Paths Object").
 */
export const DOCUMENT_SERVER = 'http://127.0.0.1:8787'
