import test from 'ava';
import { type BlendRule, blend, type ItemScalar } from '../../../mappings/compare/blend.ts';
import { anyMomentOf, compareMoments } from '../../../mappings/compare/moments.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';

type BlendKind = ItemScalar['kind'];

const rule: BlendRule = {
  list: ['L'],
  readAt: 'L',
  choices: [],
  takesNull: false,
  key: undefined,
  prefer: 'legacy',
  order: undefined,
  timeZone: undefined,
  counts: [],
};

const scalar = (name: string, kind: BlendKind) =>
  ({ path: name === '' ? [] : name.split('.'), kind, whiteSpace: 'preserve' }) as const;

function blended(changes: Partial<BlendRule>, legacy: string | undefined, fresh: string | undefined): string {
  const made = blend({ ...rule, ...changes }, legacy, fresh, defaultLimits);
  return made.kind === 'blended' ? made.json : `${made.side}: ${made.path}: expected ${made.expected}`;
}

const listOf = (values: readonly string[]) => `{"L":[${values.map((v) => `{"V":${v}}`).join(',')}]}`;

const sortedBy = (kind: BlendKind, legacy: readonly string[], fresh: readonly string[]) =>
  blended({ order: { ...scalar('V', kind), descending: false } }, listOf(legacy), listOf(fresh));

test('G28: other members come from legacy, or from the new reply', (t) => {
  t.is(blended({}, '{"A":1,"L":[1]}', '{"L":[2],"A":2,"B":3}'), '{"A":1,"L":[1,2],"B":3}');
  t.is(blended({}, undefined, '{"A":2,"L":[2]}'), '{"A":2,"L":[2]}');
  t.is(blended({}, '{"A":1}', undefined), '{"A":1}');
  t.is(blended({}, '{"A":null}', '{"A":1,"L":[]}'), '{"A":null,"L":[]}');
  t.is(blended({}, '{"L":null}', '{"L":[2]}'), '{"L":[2]}');
});

test('G28: a list inside of objects, and counts anywhere', (t) => {
  const changes = {
    list: ['R', 'I'],
    counts: [
      ['R', 'N'],
      ['P', 'T'],
      ['X', 'T'],
    ],
  };
  const legacy = '{"R":{"N":1,"I":["a"]},"P":{"T":9,"Q":"q"}}';
  t.is(
    blended(changes, legacy, '{"R":{"N":5,"I":["b","c"],"O":true}}'),
    '{"R":{"N":3,"I":["a","b","c"],"O":true},"P":{"T":3,"Q":"q"}}',
  );
  t.is(blended(changes, '{"P":{}}', '{"R":{"I":["b"]}}'), '{"P":{"T":1},"R":{"I":["b"],"N":1}}');
  t.is(blended(changes, '{"R":null}', '{"R":{"I":["b"]}}'), '{"R":{"I":["b"],"N":1}}');
});

test('G29: dates sort by instant, with all digits of a second', (t) => {
  const day = '2026-03-01T10:00:00';
  t.is(
    sortedBy(
      'date',
      [`"${day}.0000002Z"`, `"${day}-05:00"`],
      [`"${day}.0000001Z"`, `"${day}+02:00"`, 'null'],
    ),
    listOf([`"${day}+02:00"`, `"${day}.0000001Z"`, `"${day}.0000002Z"`, `"${day}-05:00"`, 'null']),
  );
  t.is(sortedBy('date', ['"2026-03-02"'], ['"2026-03-01"']), listOf(['"2026-03-01"', '"2026-03-02"']));
});

test('G29: a zone supplies missing offsets, daylight saving time included', (t) => {
  const order = { ...scalar('V', 'date'), descending: false };
  const zoned = { order, timeZone: 'America/New_York' };
  // 10:00 is 15:00Z in winter and 14:00Z in summer
  const at = (bare: string, instant: string) =>
    blended(zoned, listOf([`"${bare}"`]), listOf([`"${instant}"`]));
  const [winter, summer] = ['2026-01-05T10:00:00', '2026-07-05T10:00:00'];
  t.is(at(winter, '2026-01-05T14:30:00Z'), listOf(['"2026-01-05T14:30:00Z"', `"${winter}"`]));
  t.is(at(summer, '2026-07-05T14:30:00Z'), listOf([`"${summer}"`, '"2026-07-05T14:30:00Z"']));
});

test('G29: without a zone, the side with the missing offset fails', (t) => {
  const [bare, instant] = ['"2026-01-05T10:00:00"', '"2026-01-05T10:00:00Z"'];
  const why = 'expected an offset, because other dates have one and timeZone is not set';
  t.is(sortedBy('date', [instant], [instant, bare]), `new: L[1].V: ${why}`);
  t.is(sortedBy('date', [bare], [instant]), `legacy: L[0].V: ${why}`);
  t.is(sortedBy('date', [bare, instant], [instant]), `legacy: L[0].V: ${why}`);
  t.is(sortedBy('date', [bare], [bare]), listOf([bare, bare]));
});

test('G29: numbers sort by value without loss, texts by code unit', (t) => {
  const [big, bigger] = ['9007199254740992', '9007199254740993'];
  t.is(
    sortedBy('number', [bigger, '"INF"'], [big, '1e1', '"NaN"', '-0.5']),
    listOf(['-0.5', '1e1', big, bigger, '"INF"', '"NaN"']),
  );
  t.is(
    sortedBy('text', ['"b"', '"\ue000"'], ['"B"', '"\u{1f600}"']),
    listOf(['"B"', '"b"', '"\u{1f600}"', '"\ue000"']),
  );
});

test('G29: the sort is stable in both directions, and items without a value are last', (t) => {
  const item = (id: string, value?: number) =>
    value === undefined ? `{"I":"${id}"}` : `{"I":"${id}","V":${value}}`;
  const list = (...items: readonly string[]) => `{"L":[${items.join(',')}]}`;
  const legacy = list(item('a'), item('b', 1), item('c', 2));
  const fresh = list(item('d', 1), item('e'), item('f', 2));
  const order = scalar('V', 'number');
  const idsOf = (json: string) => [...json.matchAll(/"I":"(.)"/g)].map(([, id]) => id).join('');
  t.is(idsOf(blended({ order: { ...order, descending: false } }, legacy, fresh)), 'bdcfae');
  t.is(idsOf(blended({ order: { ...order, descending: true } }, legacy, fresh)), 'cfbdae');
});

test('G30: of two items with one key the preferred one stays in its position', (t) => {
  const list = (...items: readonly string[]) => `{"L":[${items.join(',')}]}`;
  const [l1, l2, n1, n2] = [
    '{"K":"1","S":"l"}',
    '{"K":"2","S":"l"}',
    '{"K":"1","S":"n"}',
    '{"K":"3","S":"n"}',
  ];
  const key = scalar('K', 'text');
  t.is(blended({ key }, list(l1, l2), list(n2, n1)), list(l1, l2, n2));
  t.is(blended({ key, prefer: 'new' }, list(l1, l2), list(n2, n1)), list(l2, n2, n1));
  const made = blend({ ...rule, key }, list(l1, l1), list(n1, n1), defaultLimits);
  t.deepEqual(made, {
    kind: 'blended',
    json: list(l1, l1),
    items: 2,
    duplicates: [{ index: 0, legacy: l1, new: n1 }],
  });
});

test('G30: keys are compared by type, and items without a key are all kept', (t) => {
  const sizeOf = (kind: BlendKind, one: string, other: string, whiteSpace: 'preserve' | 'collapse') => {
    const key = { path: ['K'], kind, whiteSpace };
    const made = blend({ ...rule, key }, `{"L":[{"K":${one}}]}`, `{"L":[{"K":${other}}]}`, defaultLimits);
    return made.kind === 'blended' ? made.items : 0;
  };
  t.is(sizeOf('number', '10.50', '"10.5"', 'collapse'), 1);
  t.is(sizeOf('number', '9007199254740993', '9007199254740992', 'collapse'), 2);
  t.is(sizeOf('text', '"a b"', '" a  b "', 'collapse'), 1);
  t.is(sizeOf('text', '"a"', '" a"', 'preserve'), 2);
  t.is(sizeOf('date', '"2026-01-01T00:00:00Z"', '"2025-12-31T19:00:00.0-05:00"', 'collapse'), 1);
  t.is(sizeOf('hex', '"aB"', '" AB"', 'collapse'), 1);
  t.is(sizeOf('duration', '"P1Y"', '"P12M"', 'collapse'), 1);
  t.is(sizeOf('duration', '"P1M"', '"P30D"', 'collapse'), 2);
  t.is(sizeOf('boolean', '"1"', 'true', 'collapse'), 1);
  for (const none of ['null', '""']) t.is(sizeOf('text', none, none, 'preserve'), 2);
});

test('G31: a null or another value in place of a list fails its side', (t) => {
  t.is(blended({}, '{"L":[1]}', '{"L":[2,null]}'), 'new: L[1]: expected an item');
  t.is(blended({ takesNull: true }, '{"L":[1]}', '{"L":[null]}'), '{"L":[1,null]}');
  t.is(blended({}, '{"L":[1]}', '{"L":{}}'), 'new: L: expected a list');
  const order = { ...scalar('V', 'date'), descending: false };
  t.is(blended({ order }, listOf(['"soon"']), '{}'), 'legacy: L[0].V: expected a date to sort by');
});

test('G29: each calendar type has a position', (t) => {
  const pairs = [
    ['2026-02-28T24:00:00Z', '2026-03-01T00:00:00.1Z'],
    ['12:00:00+02:00', '10:00:01Z'],
    ['2026', '2027-01'],
    ['--02-29', '--03'],
    ['---09', '---10Z'],
    ['-0044-03-15T00:00:00', '0001-01-01T00:00:00'],
    ['2026-03-01 10:00', '2026-03-01T10:00:01'],
  ] as const;
  for (const [one, other] of pairs) {
    const [first, second] = [anyMomentOf(one), anyMomentOf(other)];
    if (first === undefined || second === undefined) t.fail(one);
    else t.true(compareMoments(first, second) < 0, one);
  }
  for (const text of ['', 'soon', '2026-3-1', '2026-03-01T']) t.is(anyMomentOf(text), undefined, text);
});

test('G29: the time to read a date does not grow with the square of its zeros', (t) => {
  const start = performance.now();
  t.not(anyMomentOf(`2026-03-01T10:00:00.${'0'.repeat(1_000_000)}1Z`), undefined);
  // 60,000 zeros took 5 seconds, and a million would take 20 minutes
  t.true(performance.now() - start < 60_000);
});

test('G28: items and counts end a nil object around the list', (t) => {
  const changes = { list: ['L', 'I'], counts: [['L', 'N']] };
  const nil = '{"L":{"@nil":true,"v":1}}';
  const filled = '{"L":{"I":[1]}}';
  t.is(blended(changes, nil, filled), '{"L":{"v":1,"I":[1],"N":1}}');
  t.is(blended(changes, filled, nil), '{"L":{"I":[1],"v":1,"N":1}}');
  t.is(blended({ list: ['L', 'I'] }, nil, '{"L":{"A":1}}'), '{"L":{"v":1,"A":1}}');
  t.is(blended({ list: ['L', 'I'] }, nil, nil), nil);
  t.is(blended({ list: ['L', 'I'] }, nil, '{"L":null}'), nil);
  t.is(blended({ list: ['L', 'I'] }, undefined, '{"L":{"@nil":true,"I":[1]}}'), '{"L":{"I":[1]}}');
  const elsewhere = { list: ['I'], counts: [['P', 'N']] };
  t.is(blended(elsewhere, '{"P":{"@nil":true}}', '{"I":[1]}'), '{"P":{"N":1},"I":[1]}');
});

test('G28: header blocks that only the new reply has are returned', (t) => {
  t.is(
    blended({}, '{"@headers":{"A":1}}', '{"@headers":{"A":2,"B":3},"L":[1]}'),
    '{"@headers":{"A":1,"B":3},"L":[1]}',
  );
  t.is(blended({}, '{"@headers":{"A":1}}', '{"@headers":null,"L":[]}'), '{"@headers":{"A":1},"L":[]}');
});

test('G28: different branches of a choice', (t) => {
  const branches = (...names: readonly string[]) => names.map((name) => new Set([name]));
  const beside = { choices: [[branches('A', 'B')]] };
  t.is(blended(beside, '{"A":1,"L":[1]}', '{"B":2,"L":[2]}'), '{"A":1,"L":[1,2]}');
  t.is(blended(beside, '{"L":[1]}', '{"B":2,"L":[2]}'), '{"L":[1,2],"B":2}');
  const within = { choices: [[branches('L', 'None')]] };
  t.is(blended(within, '{"None":""}', '{"L":[2]}'), '{"L":[2]}');
  t.is(blended(within, '{"L":[1]}', '{"None":""}'), '{"L":[1]}');
  t.is(blended(within, '{"None":""}', '{"L":[]}'), '{"None":""}');
  t.is(blended(within, undefined, '{"L":[],"None":""}'), '{"None":""}');
  const deep = { list: ['R', 'L'], choices: [[branches('R', 'None')], [branches('A', 'B')]] };
  t.is(blended(deep, '{"None":""}', '{"R":{"B":1,"L":[2]}}'), '{"R":{"B":1,"L":[2]}}');
  t.is(blended(deep, '{"R":{"A":1,"L":[]}}', '{"R":{"B":1,"L":[2]}}'), '{"R":{"A":1,"L":[2]}}');
});

test('G29: durations sort by length, bytes without regard to case', (t) => {
  t.is(
    sortedBy('duration', ['"P1Y"', '"-P1D"'], ['"P11M"', '"PT0.5S"']),
    listOf(['"-P1D"', '"PT0.5S"', '"P11M"', '"P1Y"']),
  );
  t.is(sortedBy('hex', ['"0b"'], ['"0A"', '"0C"']), listOf(['"0A"', '"0b"', '"0C"']));
});
