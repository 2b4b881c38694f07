import type { Server } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';

/**
 * Returns the URL of a server's calls. An upstream address without a path, even without a slash, is followed by the
 * base path of the document. The path of an upstream address replaces the document's base path.
 */
export function addressOf(address: string, { address: own, basePath, root }: Server): string {
  if (own !== undefined) return own;
  const { origin, pathname } = new URL(address);
  if (!/^https?:\/\/[^/]+\//i.test(address)) return origin + basePath;
  const path = withoutEndSlashes(pathname);
  if (basePath === root) return origin + path;
  return origin + (path.endsWith(root) ? path.slice(0, path.length - root.length) : path) + basePath;
}
