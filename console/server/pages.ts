import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Koa from 'koa';
import Router from 'koa-router';
import { maxMessageBytes } from '../../gateway/doctor/explain.ts';
import { navigationHeaders, type Pages, type PagesOptions, type ReadBody } from '../../gateway/http/pages.ts';
import { maxLoopRequestBytes } from '../../mappings/http-mapping/related-stream.ts';
import { assets } from './assets.ts';
import { createKitMaker, type KitMaker, mostInKit } from './contract-kit.ts';
import { describeContract, describeForm } from './describe.ts';
import { doctorPage, readDoctorForm } from './doctor-page.ts';
import { documentPage } from './document-page.ts';
import { renderDocument } from './html.ts';
import { type KitFile, kitFile } from './kit.ts';
import { layout, type PageParts } from './layout.ts';
import { listPage } from './list-page.ts';
import { operationPage } from './operation.ts';
import { overviewPage } from './overview.ts';
import { createPageCache, type KeptPage, maxPageCacheBytes, type PageCache } from './page-cache.ts';
import { compilePageRequests, documentPagePath, previewedRequest } from './requests.ts';
import { sampleFile, samplesOf } from './samples.ts';
import { languageFor } from './texts.ts';
import { typePage } from './type-page.ts';
import { unknownPage } from './unknown-page.ts';
import { createSite, operationHref, operationsOf, type Site, titleOf, type View } from './view.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/**
 * Maximum number of visitors that wait for a page that is not cached. Pages are rendered one after another; the next
 * visitor gets 503.
 */
export const maxWaitingVisitors = 50;

/** Allows no other hosts and no inline content, and forbids framing. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const gzipped = promisify(gzip);

/** State shared by the handlers of one contract. */
interface Pager {
  readonly options: PagesOptions;
  readonly site: () => Site;
  readonly cache: PageCache;
  readonly kits: KitMaker;
  /** Queue in which everything that is not cached is created. */
  readonly queue: WorkQueue;
}

type Context = Koa.Context;

/**
 * Creates the pages of a contract, on Koa. Nothing is prepared before the first visit. Rendered pages are cached, up to
 * `maxPageCacheBytes`.
 */
export function createPages(options: PagesOptions): Pages {
  const { compiled, tryIt } = options;
  let made: Site | undefined;
  const pager: Pager = {
    options,
    site: () => {
      made ??= createSite(compiled, tryIt);
      return made;
    },
    cache: createPageCache(compiled.limits.pageCacheBytes ?? maxPageCacheBytes),
    kits: createKitMaker(),
    queue: createWorkQueue(compiled.limits.pagesWaiting ?? maxWaitingVisitors),
  };
  const pageRequestOf = compilePageRequests(compiled.contract);
  const app = new Koa();
  app.on('error', options.onError);
  /** Functions that read request bodies, by response. */
  const readers = new WeakMap<ServerResponse, ReadBody>();
  /** Cached bodies shared by several responses, by response. */
  const bodies = new WeakMap<ServerResponse, Buffer>();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      sendRefusal(ctx, error, options);
    }
    if (Buffer.isBuffer(ctx.body)) bodies.set(ctx.res, ctx.body);
  });
  app.use(async (ctx, next) => {
    const what = pageRequestOf(ctx.req, ctx.path, ctx.querystring);
    // the router handles paths in the pages' folder; other requests get paths that no operation can have
    ctx.newRouterPath = what?.kind === 'folder' ? what.path || '/' : `/-/${what?.kind}`;
    if (what?.kind === 'op' || what?.kind === 'document') ctx.state.name = what.name;
    if (what?.kind === 'document') ctx.state.path = what.path;
    setHeaders(ctx, options);
    await next();
  });
  const router = routerOf(pager, (ctx, most) => {
    const read = readers.get(ctx.res);
    return read === undefined ? Promise.resolve(Buffer.alloc(0)) : read(most);
  });
  app.use(router.routes());
  app.use(router.allowedMethods());
  app.use(async (ctx) => {
    if (ctx.status === 404) await sendUnknown(pager, ctx, ctx.path.slice(ctx.path.lastIndexOf('/') + 1));
  });
  const answer = app.callback();
  return {
    takes: (request, path, query) => pageRequestOf(request, path, query) !== undefined,
    handle: async (request, response, readBody) => {
      readers.set(response, readBody);
      await answer(request, response);
      const hasBody = request.method !== 'HEAD' && response.statusCode !== 304;
      if (!hasBody) return 0;
      return bodies.get(response) ?? Number(response.getHeader('content-length') ?? 0);
    },
  };
}

type BodyOf = (ctx: Context, most: number) => Promise<Buffer>;

function routerOf(pager: Pager, bodyOf: BodyOf): Router {
  const router = new Router();
  addPages(router, pager);
  addDoctor(router, pager, bodyOf);
  addData(router, pager);
  addOperations(router, pager);
  return router;
}

function addPages(router: Router, pager: Pager): void {
  const { site } = pager;
  router.get('/-/overview', (ctx) =>
    sendPage(pager, ctx, 'overview', (view) => ({
      title: titleOf(view.site),
      body: overviewPage(view),
    })),
  );
  router.get('/', async (ctx) => {
    const words = String(ctx.query.q ?? '').slice(0, 200);
    const tag = typeof ctx.query.tag === 'string' ? ctx.query.tag : undefined;
    const page = Math.max(1, Math.trunc(Number(ctx.query.page)) || 1);
    // results of arbitrary search words are not cached
    const key =
      words === '' && (tag === undefined || site().tags.has(tag)) ? `list ${page} ${tag}` : undefined;
    await sendPage(pager, ctx, key, (view) => ({
      title: tag ?? view.texts.say('overview.operations'),
      body: listPage(view, { words, tag, page }),
      query: words,
    }));
  });
  router.get('/-/op', (ctx) => {
    const name = String(ctx.state.name);
    const view = viewOf(pager, ctx);
    ctx.redirect(operationHref(view, site().operations.get(name.toLowerCase())?.operation.name ?? name));
  });
  router.get(documentPagePath, (ctx) => sendDocumentPage(pager, ctx));
  router.get('/-/types/:name', async (ctx) => {
    const type = site().contract.types.find(({ name }) => name === ctx.params.name);
    if (type === undefined) return sendUnknown(pager, ctx, String(ctx.params.name));
    await sendPage(pager, ctx, `type ${type.name}`, (view) => ({
      title: type.name,
      body: typePage(view, type),
    }));
  });
}

/** Adds the checks of messages: the doctor's page, its JSON, and the preview of upstream calls. */
function addDoctor(router: Router, pager: Pager, bodyOf: BodyOf): void {
  const { site, options } = pager;
  const { explainBytes = maxMessageBytes, readAsideBytes = maxLoopRequestBytes } = options.compiled.limits;
  // the event loop reads a message several times here, so the limit is half of the limit for calls
  const most = Math.min(explainBytes, readAsideBytes / 2);
  router.post('/-/explain', async (ctx) => {
    const body = await bodyOf(ctx, most);
    ctx.set('Cache-Control', 'no-store');
    const headers = {
      'content-type': ctx.get('content-type') || undefined,
      soapaction: ctx.get('soapaction') || undefined,
    };
    await sendJson(pager, ctx, () => site().doctor().explain({ body, headers }));
  });
  router.get('/-/doctor', (ctx) =>
    sendPage(pager, ctx, 'doctor', (view) => ({
      title: view.texts.say('doctor.title'),
      body: doctorPage(view, undefined),
    })),
  );
  router.post('/-/doctor', async (ctx) => {
    if (ctx.is('urlencoded') === false) ctx.throw(415, 'expected application/x-www-form-urlencoded');
    // a character may take three bytes in a form
    const form = readDoctorForm(await bodyOf(ctx, most * 3));
    if (Buffer.byteLength(form.message) > most)
      return ctx.throw(413, `expected a message of at most ${most} bytes`);
    ctx.set('Cache-Control', 'no-store');
    await sendPage(pager, ctx, undefined, (view) => ({
      title: view.texts.say('doctor.title'),
      body: doctorPage(view, form),
    }));
  });
  if (options.tryIt === 'show-upstream')
    router.post('/-/upstream', async (ctx) => {
      if (ctx.is('json') === false) ctx.throw(415, 'expected application/json');
      const previewed = previewedRequest(await bodyOf(ctx, readAsideBytes));
      const shown = await enqueue(pager, ctx, () => site().preview()(previewed));
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'text/plain; charset=utf-8';
      ctx.body = shown;
    });
}

/** Adds JSON for the pages' scripts, and files. */
function addData(router: Router, pager: Pager): void {
  const { site, options } = pager;
  router.get('/-/contract', (ctx) =>
    sendJson(pager, ctx, () => describeContract(site(), options.addressOf(ctx.req))),
  );
  router.get('/-/search.json', async (ctx) => {
    await sendKept(pager, ctx, 'search', 'application/json; charset=utf-8', () =>
      JSON.stringify(site().entries.map(({ entry }) => entry)),
    );
  });
  router.get('/-/kit/:file', (ctx) => sendContractKit(pager, ctx));
  router.get('/-/assets/:file', (ctx) => sendAsset(ctx));
  router.get('/-/describe/:name', async (ctx) => {
    const found = site().operations.get(String(ctx.params.name).toLowerCase());
    if (found === undefined) return sendUnknown(pager, ctx, String(ctx.params.name));
    await sendJson(pager, ctx, () => describeForm(site(), found.operation));
  });
}

/** Adds the page of each operation. Its path matches any name, so these routes are added last. */
function addOperations(router: Router, pager: Pager): void {
  const { site } = pager;
  router.get('/:name', async (ctx) => {
    const found = site().operations.get(String(ctx.params.name).toLowerCase());
    if (found === undefined) return sendUnknown(pager, ctx, String(ctx.params.name));
    const { name } = found.operation;
    await sendPage(pager, ctx, `operation ${name}`, (view) => ({
      title: name,
      body: operationPage(view, found),
      current: name,
    }));
  });
  router.get('/:name/samples/:file', (ctx) => sendSample(pager, ctx));
  router.get('/:name/kit/:file', (ctx) => sendKit(pager, ctx));
}

function setHeaders(ctx: Context, { vary }: PagesOptions): void {
  ctx.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-cache',
    Vary: [
      'Accept-Language',
      'Accept-Encoding',
      navigationHeaders,
      ...(vary === undefined ? [] : [vary]),
    ].join(', '),
  });
}

/** Returns the visit's language, and the relative paths of the page's links. */
function viewOf({ site, options }: Pager, ctx: Context): View {
  const { contract } = site();
  const rest = ctx.path.slice(contract.basePath.length);
  const depth = rest.split('/').length - 2;
  const [last = ''] = ctx.path.split('/').slice(-1);
  const chosen = typeof ctx.query.lang === 'string' ? ctx.query.lang : null;
  const texts = languageFor(chosen, ctx.get('Accept-Language'));
  const words = new URLSearchParams(ctx.querystring);
  words.delete('lang');
  const query = words.toString();
  return {
    site: site(),
    texts,
    // browsers resolve links relative to the parent of a base path without a slash at its end
    up: depth < 0 ? `${last}/` : depth === 0 ? './' : '../'.repeat(depth),
    address: options.addressOf(ctx.req),
    chosen: chosen === texts.language ? chosen : undefined,
    self: rest.replace(/^\/+/, '') + (query === '' ? '' : `?${query}`),
  };
}

/**
 * Sends a page, which is rendered on the first request.
 *
 * @param key identifies the page among those of the contract; undefined for a page that is not cached
 * @param more other parts of the request that the page depends on
 */
async function sendPage(
  pager: Pager,
  ctx: Context,
  key: string | undefined,
  make: (view: View) => PageParts,
  more = '',
): Promise<void> {
  const view = viewOf(pager, ctx);
  const whole =
    key === undefined
      ? undefined
      : JSON.stringify([key, more, view.texts.language, view.chosen, view.up, view.self, view.address]);
  await sendKept(pager, ctx, whole, 'text/html; charset=utf-8', () =>
    renderDocument(layout(view, assets().names, make(view))),
  );
}

/** Sends the page about a WSDL or schema, with links to the document itself. */
async function sendDocumentPage(pager: Pager, ctx: Context): Promise<void> {
  const { name, path } = ctx.state as { readonly name?: string; readonly path?: string };
  if (name === undefined || path === undefined) return sendUnknown(pager, ctx, ctx.querystring);
  const query = new URLSearchParams(ctx.querystring);
  const slice = [...query].filter(([word]) => /^(?:tag|operation|soap)$/i.test(word)).slice(0, 100);
  const document = `?${name}${slice.length === 0 ? '' : `&${new URLSearchParams(slice)}`}`;
  await sendPage(
    pager,
    ctx,
    `document ${ctx.path} ${name}`,
    (view) => {
      const title = name.startsWith('xsd') ? 'XSD' : 'WSDL';
      // at the base path without a slash, `up` leads into the folder, but the document is at the base path itself
      const raw =
        path === '' ? `./${ctx.path.slice(ctx.path.lastIndexOf('/') + 1)}` : view.up + path.slice(1);
      return {
        title,
        body: documentPage(view, {
          name: title,
          raw: `${raw}${document}&raw`,
          link: view.address + path + document,
        }),
      };
    },
    ctx.querystring,
  );
}

async function sendKept(
  pager: Pager,
  ctx: Context,
  key: string | undefined,
  type: string,
  make: () => string,
): Promise<void> {
  const { cache } = pager;
  let page = key === undefined ? undefined : cache.get(key);
  if (page === undefined) {
    page = await enqueue(pager, ctx, () => keptPage(make()));
    if (key !== undefined) cache.put(key, page);
  }
  ctx.set('ETag', page.etag);
  ctx.type = type;
  ctx.status = 200; // Koa starts with 404, for which `fresh` is always false
  if (ctx.fresh) ctx.status = 304;
  else sendBytes(ctx, page);
}

async function keptPage(text: string): Promise<KeptPage> {
  const bytes = Buffer.from(text);
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, gzip: await gzipped(bytes), etag: `W/"${digest}"` };
}

function sendBytes(ctx: Context, { bytes, gzip: packed }: Pick<KeptPage, 'bytes' | 'gzip'>): void {
  const isPacked = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isPacked) ctx.set('Content-Encoding', 'gzip');
  ctx.body = isPacked ? packed : bytes;
}

async function sendJson(pager: Pager, ctx: Context, make: () => object): Promise<void> {
  const text = await enqueue(pager, ctx, () => JSON.stringify(make()));
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = text;
}

function sendAsset(ctx: Context): void {
  const asset = assets().files.get(String(ctx.params.file));
  if (asset === undefined) return; // Koa sends 404
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.type = asset.contentType;
  sendBytes(ctx, asset);
}

async function sendSample(pager: Pager, ctx: Context): Promise<void> {
  const { site } = pager;
  const compiled = site().operations.get(String(ctx.params.name).toLowerCase());
  if (compiled === undefined) return;
  const { name } = compiled.operation;
  const samples = await enqueue(pager, ctx, () => samplesOf(site(), compiled));
  const sample = samples.find((each) => sampleFile(name, each) === ctx.params.file);
  if (sample === undefined) return;
  sendFile(ctx, sampleFile(name, sample), { contentType: sample.contentType, content: sample.text });
}

/** Sends a file as a download. */
function sendFile(
  ctx: Context,
  name: string,
  { contentType, content }: Pick<KitFile, 'contentType' | 'content'>,
): void {
  ctx.attachment(name);
  ctx.type = contentType;
  ctx.body = typeof content === 'string' ? content : Buffer.from(content);
}

async function sendKit(pager: Pager, ctx: Context): Promise<void> {
  const { site, options } = pager;
  const compiled = site().operations.get(String(ctx.params.name).toLowerCase());
  if (compiled === undefined) return;
  const { name } = compiled.operation;
  const found = await enqueue(pager, ctx, () =>
    kitFile(site(), options.addressOf(ctx.req), name, String(ctx.params.file)),
  );
  if (found === undefined) return;
  sendFile(ctx, `${name}-${found.file}`, found);
}

/**
 * Sends a kit of all operations or of a tag's operations. Responds with 404 if there are too many operations, and with
 * 503 if too many kits are queued.
 */
async function sendContractKit({ site, options, kits }: Pager, ctx: Context): Promise<void> {
  const { contract } = site();
  const tag = typeof ctx.query.tag === 'string' ? ctx.query.tag : undefined;
  const operations = operationsOf(site(), tag);
  if (operations.length === 0 || operations.length > mostInKit) return;
  const names = operations.map(({ name }) => name);
  const found = await kits.make(site(), options.addressOf(ctx.req), names, String(ctx.params.file));
  if (found === undefined) return;
  if (found === 'busy')
    return ctx.throw(503, 'expected fewer kits at a time; try again in some seconds', {
      headers: { 'Retry-After': '5' },
      expose: true,
    });
  sendFile(ctx, `${contract.service}-${tag === undefined ? '' : `${tag}-`}${found.file}`, found);
}

/** Runs work through the queue, unless the visitor has disconnected before. */
function enqueue<T>({ queue }: Pager, { res }: Context, make: () => T | Promise<T>): Promise<T> {
  return queue.run(() => {
    if (!res.destroyed) return make();
    throw Object.assign(new Error('the visitor went away'), { code: 'ECONNRESET' });
  });
}

/** Properties of an error that describe the response. */
interface Refusal extends Error {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expose?: boolean;
}

/** Sends an error to the visitor. Koa's own error handler would remove the headers that every response has. */
function sendRefusal(ctx: Context, error: unknown, { onError }: PagesOptions): void {
  const { message, status, headers, expose } = error as Refusal;
  const isShown = expose === true && status !== undefined;
  if (!isShown) onError(error); // an error that is shown to the visitor is not a fault of the gateway
  ctx.status = isShown ? status : 500;
  ctx.set({ ...headers, 'Cache-Control': 'no-store' });
  ctx.type = 'text';
  ctx.body = isShown ? message : ctx.message;
}

/** Sends 404 as a page with similar names. */
async function sendUnknown(pager: Pager, ctx: Context, wanted: string): Promise<void> {
  const view = viewOf(pager, ctx);
  const page = await enqueue(pager, ctx, () =>
    renderDocument(
      layout(view, assets().names, {
        title: view.texts.say('unknown.title'),
        body: unknownPage(view, wanted),
      }),
    ),
  );
  ctx.status = 404;
  ctx.type = 'text/html; charset=utf-8';
  ctx.set('Cache-Control', 'no-store');
  ctx.body = page;
}
