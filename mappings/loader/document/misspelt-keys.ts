import { nearest } from '../../contract/nearest.ts';
import { type Note, pointerSegment } from './error.ts';
import { childOf, isNode, type Node, shown } from './node.ts';
import { methods } from './unforeseen.ts';

// Finds misspelt keys. The loader ignores unknown keys, so a misspelt `requestBody` or `parameters` would silently
// leave an operation without inputs. Keys of other tools are common, so only keys similar to a known one are reported.

/** The keys of a document's root (OpenAPI 3.2.0, 4.1; Swagger 2.0). */
const rootKeys: readonly string[] = [
  ...['openapi', 'swagger', '$self', 'info', 'jsonSchemaDialect', 'servers', 'host', 'basePath', 'schemes'],
  ...['consumes', 'produces', 'paths', 'webhooks', 'components', 'definitions', 'parameters', 'responses'],
  ...['securityDefinitions', 'security', 'tags', 'externalDocs'],
];

/** Keys of OpenAPI objects in versions up to 3.2 and in Swagger 2.0. */
const keys = {
  pathItem: ['summary', 'description', ...methods, 'additionalOperations', 'servers', 'parameters'],
  operation: [
    ...['tags', 'summary', 'description', 'externalDocs', 'operationId', 'parameters', 'requestBody'],
    ...['responses', 'callbacks', 'deprecated', 'security', 'servers', 'consumes', 'produces', 'schemes'],
  ],
  requestBody: ['description', 'content', 'required'],
  response: ['summary', 'description', 'headers', 'content', 'links', 'schema', 'examples'],
  mediaType: [
    ...['schema', 'itemSchema', 'example', 'examples', 'encoding', 'prefixEncoding', 'itemEncoding'],
    'description',
  ],
} as const;

/** Maximum number of unknown keys that are compared with the known ones. */
const maxUnknown = 1_000;

/** Returns the keys of a document's root that are similar to a key of OpenAPI. An extension (`x-`) is never one. */
export function misspeltRootKeys(root: Node): readonly Note[] {
  return Object.keys(root).flatMap((key) => {
    const meant = rootKeys.includes(key) || key.startsWith('x-') ? undefined : nearest(key, rootKeys);
    return meant === undefined ? [] : [misspelt('', key, meant)];
  });
}

/** Returns the keys of a document's root that are similar to a missing key without which nothing can be read. */
export function misspeltRequiredKeys(root: Node): readonly Note[] {
  const required = ['paths', root.swagger === undefined ? 'openapi' : 'swagger'];
  const missing = required.filter((key) => root[key] === undefined);
  return Object.keys(root).flatMap((key) => {
    const meant = missing.find((name) => nearest(key, [name]) !== undefined);
    return meant === undefined || rootKeys.includes(key) ? [] : [misspelt('', key, meant)];
  });
}

function misspelt(owner: string, key: string, meant: string): Note {
  const why = `expected a key of OpenAPI, got ${shown(key)}. Did you mean ${meant}?`;
  return { pointer: owner + pointerSegment(key), why };
}

/** Returns unknown keys in the paths of a document that are similar to an OpenAPI key missing from the same object. */
export function misspeltKeys(document: Node): readonly Note[] {
  const found: Note[] = [];
  let unknown = 0;
  const check = (node: Node, pointerOf: () => string, known: readonly string[]): void => {
    for (const key of Object.keys(node)) {
      if (known.includes(key) || key.startsWith('x-') || key.startsWith('$')) continue;
      if (++unknown > maxUnknown) continue;
      const meant = nearest(
        key,
        known.filter((name) => node[name] === undefined),
      );
      if (meant !== undefined) found.push(misspelt(pointerOf(), key, meant));
    }
  };
  const checkBody = (body: Node, pointerOf: () => string, known: readonly string[]): void => {
    check(body, pointerOf, known);
    for (const [type, media] of nodesOf(childOf(body, 'content')))
      check(media, () => `${pointerOf()}/content${pointerSegment(type)}`, keys.mediaType);
  };
  for (const [path, item] of nodesOf(childOf(document, 'paths'))) {
    if (path.startsWith('x-')) continue;
    const at = (): string => `/paths${pointerSegment(path)}`;
    check(item, at, keys.pathItem);
    for (const method of methods) {
      if (item[method] === undefined) continue;
      const operation = childOf(item, method);
      check(operation, () => `${at()}/${method}`, keys.operation);
      checkBody(childOf(operation, 'requestBody'), () => `${at()}/${method}/requestBody`, keys.requestBody);
      for (const [status, response] of nodesOf(childOf(operation, 'responses')))
        checkBody(response, () => `${at()}/${method}/responses${pointerSegment(status)}`, keys.response);
    }
  }
  return found;
}

/** Returns the members that are objects. */
function nodesOf(node: Node): readonly (readonly [key: string, node: Node])[] {
  return Object.entries(node).flatMap(([key, value]) => (isNode(value) ? [[key, value] as const] : []));
}
