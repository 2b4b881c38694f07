import { patternOf } from '../../mappings/codec/adopted/patterns.ts';
import { canMatchPatterns, linearPattern } from '../../mappings/codec/scalars/pattern.ts';
import { scalarTable } from '../../mappings/codec/scalars/table.ts';
import type { BuiltIn, Facets, SimpleType } from '../../mappings/contract/type-graph.ts';
import type { Rules, ScalarName } from '../../mappings/contract/values.ts';
import { textOfPattern } from './pattern-text.ts';

/**
 * Returns XML texts that may be valid for a simple type, the most likely first.
 *
 * @param called the JSON name and, after a blank, the documented facts of the member
 */
export function candidatesOf(type: SimpleType, rules: Rules | undefined, called: string): readonly string[] {
  return type.scalar === undefined ? textsOfFacets(type) : textsOfScalar(type.scalar, rules, called);
}

/** Strings by a pattern for the member's name. The first match is used. */
const byName: readonly (readonly [RegExp, string])[] = [
  [/(?:content|media)_?type\b|mime/i, 'application/octet-stream'],
  [/file_?name\b/i, 'sample.bin'],
  [/e-?mail/i, 'jane.doe@example.com'],
  [/phone|mobile|fax/i, '+44 20 7946 0958'],
  [/(?:uri|url|href|link|website|homepage)\b/i, 'https://www.example.com/'],
  [/currency/i, 'EUR'],
  [/country/i, 'GB'],
  [/language|locale|culture/i, 'en-GB'],
  [/post(?:al)?_?code|zip/i, 'SW1A 1AA'],
  [/(?:city|town)\b/i, 'London'],
  [/street|address_?line/i, '1 High Street'],
  [/first_?name|fore_?name|given_?name/i, 'Jane'],
  [/last_?name|sur_?name|family_?name/i, 'Doe'],
];

const byFormat: Readonly<Record<string, string>> = {
  uuid: '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'www.example.com',
  email: 'jane.doe@example.com',
  uri: 'https://www.example.com/',
  time: '12:00:00Z',
  duration: 'P1DT12H',
};

/** Returns candidate texts of a scalar. */
function textsOfScalar(scalar: ScalarName, rules: Rules | undefined, called: string): readonly string[] {
  const { sample, json } = scalarTable[scalar];
  if (json === 'integer' || json === 'number') return [sample, ...numbersOf(rules), '0', '1', '2', '10'];
  if (scalar !== 'string') return [sample];
  const [name = '', ...facts] = called.split(' ');
  const texts = [byName.find(([pattern]) => pattern.test(name))?.[1] ?? sample];
  const format = /(?:^| )Format: ([\w-]+)\./.exec(facts.join(' '))?.[1];
  if (format !== undefined && byFormat[format] !== undefined) texts.unshift(byFormat[format]);
  for (const check of rules?.checks ?? []) {
    if (check.kind === 'format') texts.unshift(byFormat[check.name] ?? sample);
    if (check.kind === 'pattern') texts.unshift(...textsOfPattern(check.source));
  }
  for (const check of rules?.checks ?? []) {
    if (check.kind !== 'length') continue;
    const { least, most } = check;
    // a repeated text often matches a pattern with repetition too
    texts.push(ofLength(sample, least, most), ...texts.map((text) => repeated(text, least, most)));
  }
  return texts;
}

/** Repeats a text until it has the minimum length. */
function repeated(text: string, least: number, most: number | undefined): string {
  const times = Math.ceil(Math.min(least, 10_000) / Math.max(text.length, 1));
  return text.repeat(Math.max(times, 1)).slice(0, most);
}

/** Returns a text for a pattern if the engine that checks requests matches it. */
function textsOfPattern(source: string): readonly string[] {
  if (!canMatchPatterns()) return [];
  const text = textOfPattern(source);
  return text !== undefined && linearPattern(source)?.matcher(text).find() === true ? [text] : [];
}

/** Cuts or pads a text to the required length. */
function ofLength(text: string, least: number, most: number | undefined): string {
  const cut = most === undefined ? text : text.slice(0, most);
  return cut.padEnd(Math.min(least, 10_000), 'x');
}

/** Returns numbers at, next to and between the bounds, and multiples of a factor near them. */
function numbersOf(rules: Rules | undefined): readonly string[] {
  const checks = rules?.checks ?? [];
  const bounds = checks.flatMap((check) => (check.kind === 'bound' ? [Number(check.number)] : []));
  const factors = checks.flatMap((check) => (check.kind === 'multipleOf' ? [Number(check.number)] : []));
  const adjacent = checks.flatMap((check) => {
    if (check.kind === 'multipleOf') return [check.number];
    if (check.kind !== 'bound') return [];
    const bound = Number(check.number);
    return check.bound === 'minimum' || check.bound === 'maximum'
      ? [check.number]
      : [String(check.bound === 'exclusiveMinimum' ? bound + 1 : bound - 1), String(bound / 2)];
  });
  const middle = bounds.length < 2 ? [] : [(Math.min(...bounds) + Math.max(...bounds)) / 2];
  const multiples = factors.flatMap((factor) =>
    bounds.flatMap((bound) => [
      Math.ceil(bound / factor) * factor,
      Math.floor(bound / factor) * factor,
      (Math.floor(bound / factor) + 1) * factor,
    ]),
  );
  return [...adjacent, ...[...middle, ...multiples].map(String)].filter((text) =>
    /^-?\d+(?:\.\d+)?$/.test(text),
  );
}

const samples: { readonly [name in BuiltIn]?: string } = {
  boolean: 'true',
  decimal: '1.5',
  float: '1.5',
  double: '1.5',
  duration: 'P1DT12H',
  dateTime: '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  date: '2026-01-31',
  gYearMonth: '2026-01',
  gYear: '2026',
  gMonthDay: '--01-31',
  gDay: '---31',
  gMonth: '--01',
  hexBinary: '000102',
  base64Binary: 'AAEC',
  anyURI: 'https://www.example.com/',
  language: 'en-GB',
  negativeInteger: '-1',
  nonPositiveInteger: '-1',
  QName: 'xml:lang',
  Name: 'name',
  NCName: 'name',
  ID: 'id1',
  IDREF: 'id1',
};

/** Returns candidate texts of a type of a WSDL. The codec and the facets decide which ones are valid. */
function textsOfFacets(type: SimpleType): readonly string[] {
  const { facets, variety, builtIn } = type;
  if (facets.enumeration !== undefined) return facets.enumeration;
  if (variety.kind === 'union') return variety.members.flatMap(textsOfFacets);
  if (variety.kind === 'list') {
    const items = textsOfFacets(variety.item).slice(0, 2);
    const { length = facets.minLength ?? 1 } = facets;
    return items.map((item) => new Array(Math.min(Math.max(length, 1), 32)).fill(item).join(' '));
  }
  const { minLength, length, maxLength } = facets;
  const sample = samples[builtIn];
  const bounds = boundsOf(facets);
  if (sample !== undefined) return [sample, ...bounds];
  const patterns = facets.patterns.flatMap((alternatives) => {
    const source = patternOf(alternatives);
    return source === undefined ? [] : textsOfPattern(source);
  });
  const text = isText(builtIn) ? 'text' : '1';
  const sized = [length ?? minLength ?? 0, length ?? maxLength] as const;
  return [...patterns, ...(isText(builtIn) ? [ofLength(text, ...sized)] : []), text, ...bounds, '0', '10'];
}

function isText(builtIn: BuiltIn): boolean {
  return /string|token|^any|NMTOKEN|Name|ENTIT|IDREFS|NOTATION/i.test(builtIn);
}

function boundsOf({ minInclusive, maxInclusive, minExclusive, maxExclusive }: Facets): readonly string[] {
  const inner = [minInclusive, maxInclusive].filter((bound) => bound !== undefined);
  const adjacent = [
    [minExclusive, 1],
    [maxExclusive, -1],
  ] as const;
  return [
    ...inner,
    ...adjacent.flatMap(([bound, step]) =>
      bound !== undefined && /^-?\d{1,15}$/.test(bound) ? [String(Number(bound) + step)] : [],
    ),
  ];
}
