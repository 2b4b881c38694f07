import type { IncomingMessage } from 'node:http';
import type { Contract } from '../../mappings/contract/model.ts';

/**
 * Returns the CORS headers for a request from a page (Fetch §3.2.3; W40); undefined if the contract does not allow its
 * origin.
 */
export type CorsHeaders = (request: IncomingMessage, allow?: string) => Record<string, string> | undefined;

/** @returns undefined for a contract without `cors` */
export function compileCors({ settings, credentials }: Contract): CorsHeaders | undefined {
  const { cors } = settings;
  if (cors.length === 0) return undefined;
  const origins = new Set(cors.map((origin) => origin.toLowerCase()));
  const any = origins.has('*');
  const headers = [
    'Content-Type',
    'Accept',
    'SOAPAction',
    'X-Request-Id',
    ...(credentials?.parts ?? []).map(({ header }) => header),
  ];
  return (request, allow) => {
    const { origin } = request.headers;
    if (origin === undefined || !(any || origins.has(origin.toLowerCase()))) return undefined;
    const reply: Record<string, string> = {
      'Access-Control-Allow-Origin': any ? '*' : origin,
      'Access-Control-Expose-Headers': 'X-Status, X-Request-Id, Retry-After',
      Vary: 'Origin',
    };
    if (allow !== undefined) {
      reply['Access-Control-Allow-Methods'] = allow;
      reply['Access-Control-Allow-Headers'] = headers.join(', ');
      reply['Access-Control-Max-Age'] = '600';
    }
    return reply;
  };
}
