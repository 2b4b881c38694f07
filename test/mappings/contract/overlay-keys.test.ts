import test from 'ava';
import {
  type ContractKind,
  defaultSettings,
  overlayKeys,
  overlaySettings,
} from '../../../mappings/contract/overlay-keys.ts';
import type { Setting } from '../../../mappings/contract/setting.ts';
import { readSettings } from '../../../mappings/loader/document/settings-file.ts';
import { dialects } from '../../../mappings/loader/overlay/dialects.ts';
import { readOverlay } from '../../../mappings/loader/overlay/overlay.ts';
import { readAdoptedOverlay } from '../../../mappings/loader/wsdl/adopted-overlay.ts';

const kinds = ['openapi', 'adopted'] as const;

/** Returns the problems of an overlay of one kind. */
function problemsOf(kind: ContractKind, overlay: unknown): readonly string[] {
  const problems: string[] = [];
  const read = kind === 'openapi' ? readOverlay : readAdoptedOverlay;
  read(overlay, (pointer, message) => problems.push(`${pointer}: ${message}`));
  return problems;
}

for (const kind of kinds) {
  test(`the defaults of the kind ${kind} are valid values of their keys`, (t) => {
    const settings = { ...defaultSettings[kind], upstreamTimeZone: 'UTC' };
    const keys: Readonly<Record<string, Setting>> = overlaySettings[kind].keys;
    for (const [name, value] of Object.entries(settings)) {
      const setting = keys[name];
      if (setting === undefined || !('default' in setting)) continue;
      t.deepEqual(problemsOf(kind, { [name]: value }), [], name);
    }
  });
}

test('the defaults of dialects are valid values of their keys', (t) => {
  for (const { settings } of Object.values(dialects)) t.deepEqual(problemsOf('openapi', settings), []);
});

test('a contract has a setting for each key with a default, of both kinds', (t) => {
  const entries: Readonly<Record<string, { readonly [Kind in ContractKind]?: Setting }>> = overlayKeys;
  const expected = Object.keys(entries).filter((name) =>
    kinds.some((kind) => 'default' in (entries[name]?.[kind] ?? {})),
  );
  for (const kind of kinds) t.deepEqual(Object.keys(defaultSettings[kind]), expected);
});

test('a value of a key without a default is not a setting', (t) => {
  const { settings } = readOverlay({ types: { Parcel: {} }, basePath: '/v2' }, t.fail);
  t.is(settings.types, 'derived');
  t.false('basePath' in settings);
});

test('an overlay without keys has the defaults of its kind and dialect', (t) => {
  t.deepEqual(readOverlay({}, t.fail).settings, defaultSettings.openapi);
  t.deepEqual(readAdoptedOverlay(undefined, t.fail).settings, defaultSettings.adopted);
  const { dates, jsonp, replies } = readOverlay({ dialect: 'servicestack', jsonp: false }, t.fail).settings;
  t.deepEqual([dates, jsonp, replies], ['wcf', false, 'note']);
});

const fromWsdl = 'a contract that is loaded from a WSDL';
const fromOpenapi = 'a contract that is loaded from an OpenAPI document';

for (const [kind, overlay, problem] of [
  ['openapi', { servce: 'P' }, '/servce: expected a known key, got "servce". Did you mean service?'],
  ['adopted', { endpoint: {} }, '/endpoint: expected a known key, got "endpoint". Did you mean endpoints?'],
  ['openapi', { wsdl: 'a.wsdl' }, `/wsdl: expected a known key, got "wsdl"; it is only for ${fromWsdl}`],
  [
    'adopted',
    { dialect: 'x' },
    `/dialect: expected a known key, got "dialect"; it is only for ${fromOpenapi}`,
  ],
  [
    'adopted',
    { operations: { Get: { stream: true } } },
    `/operations/Get/stream: expected a known key, got "stream"; it is only for ${fromOpenapi}`,
  ],
  [
    'adopted',
    { operations: { Get: { hid: true } } },
    '/operations/Get/hid: expected a known key, got "hid". Did you mean hide?',
  ],
  [
    'openapi',
    { dialect: 'servicestak' },
    '/dialect: expected one of servicestack, plain, got "servicestak". Did you mean servicestack?',
  ],
  ['openapi', { dates: 'ISO' }, '/dates: expected one of wcf, iso, text, got "ISO". Did you mean iso?'],
  [
    'adopted',
    { types: 'alway' },
    '/types: expected one of derived, always, got "alway". Did you mean always?',
  ],
  [
    'openapi',
    { operationNames: 'fastap' },
    '/operationNames: expected one of fastapi, got "fastap". Did you mean fastapi?',
  ],
] as const) {
  test(`${kind} overlay: ${problem.slice(0, 60)}`, (t) => {
    t.deepEqual(problemsOf(kind, overlay), [problem]);
  });
}

test('a key that both kinds have is not reported as a key of the other kind', (t) => {
  const problems: string[] = [];
  readSettings(overlaySettings.adopted, { cors: ['*'], dates: 'utc' }, '', (at) => problems.push(at));
  t.deepEqual(problems, []);
});
