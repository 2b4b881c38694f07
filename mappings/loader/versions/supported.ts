import type { Report } from '../document/error.ts';
import { misspeltRequiredKeys } from '../document/misspelt-keys.ts';
import { isNode, type Node, shown } from '../document/node.ts';
import { isSwagger } from './swagger.ts';

/**
 * Returns the document if its version is supported and no required key is misspelt. Otherwise reports the reason and
 * returns undefined.
 */
export function supportedDocument(root: unknown, report: Report): Node | undefined {
  const misspelt = isNode(root) ? misspeltRequiredKeys(root) : [];
  for (const { pointer, why } of misspelt) report(pointer, why);
  if (misspelt.length > 0) return undefined;
  if (isSwagger(root)) return root;
  const { openapi, swagger } = isNode(root) ? root : { openapi: root, swagger: undefined };
  // 3.1 without quotes is a number.
  const isVersion = typeof openapi === 'string' || typeof openapi === 'number';
  if (isNode(root) && isVersion && /^3\.[012](?:\.[\w.+-]*)?$/.test(String(openapi))) return root;
  if (swagger !== undefined)
    report('/swagger', `expected Swagger 2.0, or OpenAPI 3.0 to 3.2, got Swagger ${shown(swagger)}`);
  else report('/openapi', `expected OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, got ${shown(openapi)}`);
  return undefined;
}
