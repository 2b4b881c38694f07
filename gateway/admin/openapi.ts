import { schemaFileOf } from '../../mappings/loader/document/settings-file.ts';
import { http } from '../node-http.ts';
import { type AdminRoute, stateRoute } from './route.ts';

/** Statuses of problem documents by the routes that have them. */
const problems = {
  all: [400, 401, 404, 421, 429],
  read: [503],
  change: [403, 409, 415, 503],
  input: [413, 422],
} as const;

/** Returns the path of a route with the parameters in the form of OpenAPI. */
export function openapiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** Returns the OpenAPI document of the API (G71). */
export function writeOpenapi(routes: readonly AdminRoute[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    if (!route.path.startsWith('/api/')) continue;
    const path = openapiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const problem = {
    type: 'object',
    properties: {
      type: { type: 'string' },
      title: { type: 'string', description: 'The phrase of the status, StaleVersion, NotReady or NoStore.' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      problems: {
        type: 'array',
        items: {
          type: 'object',
          properties: { pointer: { type: 'string' }, message: { type: 'string' } },
        },
      },
    },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'soapbridge admin API', version },
    paths,
    security: [{ bearer: [] }, { session: [] }],
    components: {
      schemas: { Problem: problem },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: '__Host-soapbridge' },
      },
    },
  };
}

function operationOf({ method, path, summary, access, action, input, parameters = [] }: AdminRoute): object {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true }));
  const inQuery = parameters.map((name) => ({ name, in: 'query' }));
  const all = [...inPath, ...inQuery].map((one) => ({ ...one, schema: { type: 'string' } }));
  const statuses = [
    ...problems.all,
    ...(method === 'GET' ? problems.read : problems.change),
    ...(input === undefined ? [] : problems.input),
    ...(access === 'change' && method === 'GET' ? [403] : []),
  ];
  const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const refusals = statuses
    .toSorted((a, b) => a - b)
    .map((status) => [status, { description: http.STATUS_CODES[status], content: problem }]);
  return {
    summary,
    description: `Role: ${access === 'open' ? 'none' : access}.${action === undefined ? '' : ` In the audit: ${action}.`}`,
    ...(access === 'open' ? { security: [] } : {}),
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(input === undefined ? {} : { requestBody: bodyOf(input) }),
    responses: { '2XX': { description: 'Success.' }, ...Object.fromEntries(refusals) },
  };
}

function bodyOf({ members, required, isOptional = false }: NonNullable<AdminRoute['input']>): object {
  const { $schema: _, ...schema } = schemaFileOf(members);
  const content = { 'application/json': { schema: { ...schema, ...(required.length > 0 && { required }) } } };
  return { required: !isOptional, content };
}

/** Returns the route of the document. */
export function openapiRoute(routes: readonly AdminRoute[]): AdminRoute {
  const route: AdminRoute = stateRoute('/api/v1/openapi.json', 'This document.', ({ version }) =>
    writeOpenapi([...routes, route], version),
  );
  return route;
}
