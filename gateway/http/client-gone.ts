/**
 * Returns true if the error only means that the client closed the connection early or sent something that is not HTTP.
 */
export function isGone(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(?:ECONNRESET|EPIPE|HPE_\w+)$/.test(String(error.code))
  );
}
