import type { Server } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';

/**
 * Where a server's calls go. The upstream's address without a path, not even a slash, takes the base path that the
 * document states; one with a path has it in the place of the document's.
 */
export function addressOf(address: string, { address: own, basePath, root }: Server): string {
  if (own !== undefined) return own;
  const { origin, pathname } = new URL(address);
  if (!/^https?:\/\/[^/]+\//i.test(address)) return origin + basePath;
  const path = withoutEndSlashes(pathname);
  if (basePath === root) return origin + path;
  return origin + (path.endsWith(root) ? path.slice(0, path.length - root.length) : path) + basePath;
}
