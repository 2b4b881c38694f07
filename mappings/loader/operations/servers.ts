import type { Server } from '../../contract/model.ts';
import { withoutEndSlashes } from '../../http-mapping/paths.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { childOf, isNode, type Node, shown, textOf } from '../document/node.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { JsonNote } from '../schema/drafts.ts';
import type { Entry } from './entries.ts';

/** Finds where an operation's calls go. */
export type FindServer = (entry: Entry) => Server;

/** A server that the document states. */
interface Stated {
  /** Its URL with the default of each variable. */
  readonly url: string;
  /** As the document has it. */
  readonly template: string;
  /** `''` for one that is relative to where the document was found. */
  readonly origin: string;
  readonly basePath: string;
}

/**
 * The document's first server is the upstream, whatever its address; one of the same host is the upstream with another
 * base path. Any other one has its address among the overlay's servers, and gets credentials only if that says so;
 * where it has none, the upstream is called in its place, and that is noted.
 */
export function createServers(document: Node, overlay: Overlay, reportOverlay: Report): ServersOf {
  const [first = stateServer({ url: '/' })] = serversOf(document.servers);
  const upstreamAt = ({ basePath }: Stated): Server => ({
    address: undefined,
    basePath,
    root: first.basePath,
    credentials: true,
  });
  const upstream = upstreamAt(first);
  const known = new Map<string, Server>([[`${first.origin}${first.basePath}`, upstream]]);
  const used = new Set<string>();
  /** Each list once: a path's is that of all its operations, and of all paths that refer to it. */
  const lists = new Map<unknown, readonly Stated[]>();
  const assumed = new Map<string, string>();

  function serverOf(stated: Stated): Server | undefined {
    const origin = stated.origin === '' ? first.origin : stated.origin;
    const key = `${origin}${stated.basePath}`;
    const same = known.get(key);
    if (same !== undefined) return same;
    const name = [stated.url, stated.template].find((url) => overlay.servers.has(url));
    const said = name === undefined ? undefined : overlay.servers.get(name);
    if (name !== undefined) used.add(name);
    if (said === undefined && origin !== first.origin) return undefined;
    const server: Server =
      said === undefined
        ? upstreamAt(stated)
        : { ...upstreamAt(stated), address: said.upstream, credentials: said.credentials === true };
    known.set(key, server);
    return server;
  }

  function listed(servers: unknown): readonly Stated[] {
    const known = lists.get(servers) ?? serversOf(servers);
    lists.set(servers, known);
    return known;
  }

  return {
    find: ({ pathItem, operation, pointer }) => {
      const own = listed(operation.servers);
      const servers = own.length > 0 ? own : listed(pathItem.node.servers);
      const [stated] = servers;
      if (stated === undefined) return upstream;
      for (const candidate of servers) {
        const server = serverOf(candidate);
        if (server !== undefined) return server;
      }
      const at = own.length > 0 ? pointer : pathItem.pointer;
      assumed.set(
        `${at}/servers`,
        `lies at ${shown(stated.url)}, which has no address among the overlay's servers`,
      );
      return upstreamAt(stated);
    },
    checkOverlay: () => {
      for (const url of overlay.servers.keys()) {
        if (!used.has(url))
          reportOverlay(
            `/servers${pointerSegment(url)}`,
            `expected the URL of a server of some operation, other than the document's first, got ${shown(url)}`,
          );
      }
    },
    assumed: () => [...assumed].map(([pointer, why]) => ({ pointer, why })),
  };
}

export interface ServersOf {
  readonly find: FindServer;
  /** Reports servers in the overlay that no operation has; to be called when all operations are read. */
  readonly checkOverlay: () => void;
  /** The servers that the upstream is called in place of. */
  readonly assumed: () => readonly JsonNote[];
}

function serversOf(servers: unknown): Stated[] {
  return Array.isArray(servers)
    ? servers.flatMap((server) => (isNode(server) ? [stateServer(server)] : []))
    : [];
}

function stateServer(server: Node): Stated {
  const template = textOf(server.url) ?? '/';
  const variables = childOf(server, 'variables');
  const url = template.replaceAll(/\{([^{}]*)\}/g, (hole, name: string) => {
    const value = childOf(variables, name).default;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : hole;
  });
  const relative = 'http://relative.invalid';
  const parsed = URL.parse(url, relative);
  const origin = parsed === null || parsed.origin === relative ? '' : parsed.origin;
  return { url, template, origin, basePath: withoutEndSlashes(parsed?.pathname ?? '') };
}
