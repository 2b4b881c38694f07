import type { Server } from '../../contract/model.ts';
import { withoutEndSlashes } from '../../http-mapping/paths.ts';
import { type Note, notesOf, pointerSegment, type Report } from '../document/error.ts';
import { childOf, isNode, type Node, shown, textOf } from '../document/node.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { Entry } from './entries.ts';

/** A server that the document declares. */
interface Stated {
  /** URL with the default of each variable. */
  readonly url: string;
  /** URL as written in the document. */
  readonly template: string;
  /** Origin; `''` for a URL relative to the document. */
  readonly origin: string;
  readonly basePath: string;
}

/**
 * Maps the document's servers to upstreams. The first server is the upstream, regardless of its address; a server on
 * the same host is the upstream with another base path. Any other server needs an address in the overlay's `servers`,
 * and gets credentials only if configured there. Without an address, the upstream is called instead, with a note.
 */
export class Servers {
  readonly #overlay: Overlay;
  readonly #reportOverlay: Report;
  readonly #first: Stated;
  readonly #upstream: Server;
  readonly #known: Map<string, Server>;
  readonly #used = new Set<string>();
  /** Parsed lists of servers. Operations of a path, and paths with the same reference, share a list. */
  readonly #lists = new Map<unknown, readonly Stated[]>();
  readonly #assumed = new Map<string, string>();
  /** Servers with a URL that is probably a mistake, by pointer. */
  readonly #suspicious = new Map<string, string>();

  constructor(document: Node, overlay: Overlay, reportOverlay: Report) {
    const [first = stateServer({ url: '/' })] = serversOf(document.servers);
    this.#look(document.servers, '/servers');
    this.#overlay = overlay;
    this.#reportOverlay = reportOverlay;
    this.#first = first;
    this.#upstream = this.#upstreamAt(first);
    this.#known = new Map([[`${first.origin}${first.basePath}`, this.#upstream]]);
  }

  /** URL of the document's first server; undefined if it has none or a relative one. */
  get address(): string | undefined {
    const { origin, basePath } = this.#first;
    return /^https?:\/\//.test(origin) ? origin + basePath : undefined;
  }

  /** Returns the server of an operation. */
  find({ pathItem, operation, pointer }: Entry): Server {
    const own = this.#listed(operation.servers);
    const servers = own.length > 0 ? own : this.#listed(pathItem.node.servers);
    const [stated] = servers;
    if (stated === undefined) return this.#upstream;
    if (own.length > 0) this.#look(operation.servers, `${pointer}/servers`);
    else this.#look(pathItem.node.servers, `${pathItem.pointer}/servers`);
    for (const candidate of servers) {
      const server = this.#serverOf(candidate);
      if (server !== undefined) return server;
    }
    const at = own.length > 0 ? pointer : pathItem.pointer;
    this.#assumed.set(
      `${at}/servers`,
      `is at ${shown(stated.url)}, which has no address in servers of the overlay`,
    );
    return this.#upstreamAt(stated);
  }

  /** Reports servers in the overlay that no operation uses. Call it after all operations are read. */
  checkOverlay(): void {
    for (const url of this.#overlay.servers.keys()) {
      if (!this.#used.has(url))
        this.#reportOverlay(
          `/servers${pointerSegment(url)}`,
          `expected the URL of a server of some operation, other than the document's first, got ${shown(url)}`,
        );
    }
  }

  /** Servers with a URL that starts with a host name without a scheme. It is parsed as a path. */
  suspicious(): readonly Note[] {
    return notesOf(this.#suspicious);
  }

  #look(servers: unknown, pointer: string): void {
    if (!Array.isArray(servers)) return;
    for (const [index, server] of servers.entries()) {
      const url = isNode(server) ? textOf(server.url) : undefined;
      if (url === undefined || !hostForm.test(url)) continue;
      this.#suspicious.set(
        `${pointer}/${index}/url`,
        `expected a URL with its scheme, such as ${shown(`https://${url}`)}, got ${shown(url)}, which is a path`,
      );
    }
  }

  /** Servers without an address, replaced by the upstream. */
  assumed(): readonly Note[] {
    return notesOf(this.#assumed);
  }

  #upstreamAt({ basePath }: Stated): Server {
    return { address: undefined, basePath, root: this.#first.basePath, credentials: true };
  }

  #serverOf(stated: Stated): Server | undefined {
    const origin = stated.origin === '' ? this.#first.origin : stated.origin;
    const key = `${origin}${stated.basePath}`;
    const same = this.#known.get(key);
    if (same !== undefined) return same;
    const { servers } = this.#overlay;
    const name = [stated.url, stated.template].find((url) => servers.has(url));
    const configured = name === undefined ? undefined : servers.get(name);
    if (name !== undefined) this.#used.add(name);
    if (configured === undefined && origin !== this.#first.origin) return undefined;
    const upstream = this.#upstreamAt(stated);
    const server: Server =
      configured === undefined
        ? upstream
        : { ...upstream, address: configured.upstream, credentials: configured.credentials === true };
    this.#known.set(key, server);
    return server;
  }

  #listed(servers: unknown): readonly Stated[] {
    const known = this.#lists.get(servers) ?? serversOf(servers);
    this.#lists.set(servers, known);
    return known;
  }
}

/** A host name, or a host and port, at the start of a URL without a scheme. */
const hostForm =
  /^(?:localhost|(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}|\d+(?:\.\d+){3})(?::\d+)?(?:\/|$)|^[A-Za-z0-9-]+:\d+(?:\/|$)/;

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
  // The URL parser would read `localhost:` in `localhost:8080` as a scheme.
  const parsed = URL.parse(hostForm.test(url) ? `/${url}` : url, relative);
  const origin = parsed === null || parsed.origin === relative ? '' : parsed.origin;
  return { url, template, origin, basePath: withoutEndSlashes(parsed?.pathname ?? '') };
}
