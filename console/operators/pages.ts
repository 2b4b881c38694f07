import {
  type AdminReply,
  type AdminRequest,
  type AdminRoute,
  type AdminState,
  type OperatorPages,
  Problem,
  previewChange,
  problemOf,
  type ShownSetting,
} from '../../gateway/admin/operator-pages.ts';
import { assets } from '../server/assets.ts';
import { renderDocument } from '../server/html.ts';
import { audit } from './audit.ts';
import { callers } from './callers.ts';
import { contract } from './contract.ts';
import { deprecations } from './deprecations.ts';
import { exchanges } from './exchanges.ts';
import { findings } from './findings.ts';
import { assetFolder, type Frame, layout } from './layout.ts';
import { operation } from './operation.ts';
import { overview } from './overview.ts';
import { problemPage, signIn } from './sign-in.ts';
import { type ConsolePage, maxShown, type PageParts, samplesOf, type Visit } from './visit.ts';

/** All pages for signed-in users. Static paths come first. */
const all: readonly ConsolePage[] = [
  overview,
  audit,
  operation,
  findings,
  exchanges,
  callers,
  deprecations,
  contract,
];

const summary = 'Page of the operator console.';

/** Returns the pages of the operator console (G73). */
export function createOperatorPages(): OperatorPages {
  const render = (
    parts: PageParts,
    state: AdminState,
    frame: Partial<Frame> = {},
    status = 200,
  ): AdminReply => {
    const warnings = warningsOf(state.settings());
    const { names } = assets('operators');
    const usual = { viewer: undefined, contract: '', path: '', warnings, ...names };
    const text = renderDocument(layout({ ...usual, ...frame }, parts));
    return { status, text, type: 'text/html; charset=utf-8' };
  };
  return {
    routes: (api) => {
      const reads = api.filter(({ method }) => method === 'GET');
      const calls = new Map(reads.map((route) => [route.path, route]));
      return [
        openRoute('/sign-in', (_request, state) => render(signIn(), state)),
        openRoute(`${assetFolder}:name`, ({ params }) => assetReply(params.name ?? '')),
        ...all.map(
          (page): AdminRoute => ({
            ...openRoute(page.path, async (request, state) => {
              const visit = visitOf(request, state, calls);
              const { viewer, contract: of } = visit;
              return render(await page.render(visit), state, { viewer, contract: of, path: page.path });
            }),
            access: page.access ?? 'read',
          }),
        ),
      ];
    },
    problem: (problem, url, state) =>
      problem.status === 401
        ? {
            status: 303,
            headers: { Location: `/sign-in?next=${encodeURIComponent(url)}` },
            text: '',
            type: 'text/plain',
          }
        : render(problemPage(problem), state, {}, problem.status),
  };
}

function visitOf(request: AdminRequest, state: AdminState, calls: ReadonlyMap<string, AdminRoute>): Visit {
  const { params, query, actor } = request;
  if (actor === undefined) throw new TypeError('expected a signed-in user, got none');
  const { c: contract = '', operation = '' } = params;
  const callOf = (
    path: string,
    { id = '', ...words }: Readonly<Record<string, string>>,
  ): { readonly route: AdminRoute; readonly call: AdminRequest } => {
    const route = calls.get(`/api/v1${path}`);
    if (route === undefined) throw new TypeError(`expected a call of the admin API, got ${path}`);
    if (route.access === 'change' && actor.role !== 'change')
      throw new Problem(403, 'expected an entry with role change, got role read');
    const named = { c: contract, id, caller: id };
    return { route, call: { ...request, body: undefined, query: words, params: named } };
  };
  return {
    viewer: actor,
    contract,
    operation,
    query: (name) => String(query[name] ?? ''),
    origin: request.authenticator.origin,
    get: async <Result>(path: string, given: Readonly<Record<string, string>> = {}) => {
      const { route, call } = callOf(path, given);
      const reply = await withProblem(async () => route.answer(call, state));
      if (!('json' in reply)) throw new TypeError(`${path}: expected JSON, got text`);
      return reply.json as Result;
    },
    all: async <Item>(path: string, given: Readonly<Record<string, string>> = {}) => {
      const { route, call } = callOf(path, given);
      const { list } = route;
      if (list === undefined) throw new TypeError(`${path}: expected a list, got another call`);
      const items = await withProblem(() => list(state, call));
      return items.slice(0, maxShown) as readonly Item[];
    },
    samples: async () => {
      const snapshot = await state.snapshot();
      if (snapshot === undefined)
        throw new Problem(503, 'the process starts or stops', { 'Retry-After': '1' });
      return samplesOf(snapshot);
    },
    settings: state.settings,
    sentenceAfter: (change) => previewChange(state, contract, change),
  };
}

/** Returns the result of a call. Rejects with a Problem for each failure that the API reports. */
async function withProblem<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const problem = problemOf(error);
    throw problem.status === 500 ? error : problem;
  }
}

/** Returns the warnings that every page shows. */
function warningsOf(settings: readonly ShownSetting[]): readonly string[] {
  const isUnredacted = settings.some(
    ({ name, value }) => name.endsWith('/migration/record/redact') && value === 'none',
  );
  return isUnredacted
    ? [
        'A contract records without redaction (redact: none), so recordings contain personal data. Set redact: pseudonyms in soapbridge.yaml.',
      ]
    : [];
}

function openRoute(path: string, answer: AdminRoute['answer']): AdminRoute {
  return { method: 'GET', path, access: 'open', summary, isPage: true, answer };
}

/** Returns a style sheet, script or icon of the pages. */
function assetReply(name: string): AdminReply {
  const asset = assets('operators').files.get(name);
  if (asset === undefined) throw new Problem(404, 'no file has this name');
  return { status: 200, text: asset.bytes.toString(), type: asset.contentType };
}
