/**
 * Address of the server in the OpenAPI document as it is committed: the one of `npm start`. A deployment puts its own there
 * when it serves the document, without a slash at the end, since clients append paths to it (OpenAPI 3.1, "Paths Object").
 */
export const DOCUMENT_SERVER = 'http://127.0.0.1:8787'
