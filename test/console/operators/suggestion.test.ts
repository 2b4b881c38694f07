import test from 'ava';
import { parse } from 'yaml';
import { type SuggestedFinding, suggestedRule } from '../../../console/operators/suggestion.ts';
import { compileRules } from '../../../mappings/compare/rules.ts';
import { readContract } from '../../../mappings/loader/load.ts';

const { contract } = readContract('examples/migration/agency');

const agencyName = 'OpportunityDetails[].OfferingAgency';

/** Returns the action of the suggested rule, after the rule was checked as part of a configuration. */
function actionOf(kind: string, examples: SuggestedFinding['examples'], path = agencyName): unknown {
  const text = suggestedRule({ operation: 'GetOpportunityList', path, kind, examples });
  if (text === undefined) return undefined;
  const rules = parse(text);
  const problems: string[] = [];
  compileRules(rules, '', { contract }, (at, message) => problems.push(`${at}: ${message}`));
  const [{ operation, path: at, reason, ...action }] = rules;
  const isOwn = operation === 'GetOpportunityList' && at === path && typeof reason === 'string';
  return isOwn ? { ...action, ...(problems.length > 0 && { problems }) } : rules;
}

const cases: readonly [title: string, unknown, ...Parameters<typeof actionOf>][] = [
  ['white space', { text: ['whitespace'] }, 'value', [{ class: 'whitespace', legacy: 'a ', new: 'a' }]],
  [
    'two classes of texts',
    { text: ['case', 'whitespace'] },
    'value',
    [{ class: 'case' }, { class: 'whitespace' }, { class: 'case' }],
  ],
  [
    'rounded numbers',
    { tolerance: '0.0001%' },
    'value',
    [{ class: 'rounding', legacy: '1', new: '1.0000001' }],
  ],
  ['times without an offset', { timeZone: 'UTC' }, 'value', [{ class: 'zone' }]],
  [
    'other values',
    { map: { Open: 'Active', Shut: 'Closed' } },
    'value',
    [
      { class: 'other', legacy: 'Open', new: 'Active' },
      { class: 'other', legacy: 'Shut', new: 'Closed' },
    ],
  ],
  [
    'a value with two new values',
    { ignore: true },
    'value',
    [
      { class: 'other', legacy: 'Open', new: 'Active' },
      { class: 'other', legacy: 'Open', new: 'Closed' },
    ],
  ],
  ['hidden values', { ignore: true }, 'value', [{ class: 'other', legacy: '***', new: '***' }]],
  ['pseudonyms', { ignore: true }, 'value', [{ class: 'other', legacy: 'p-abcdefgh', new: 'p-ijklmnop' }]],
  ['nil against absent', { absence: ['nil', 'absent'] }, 'absence', [{ class: 'nil absent' }]],
  ['absent against present', { ignore: true }, 'absence', [{ class: 'absent present' }]],
  ['a missing value', { ignore: true }, 'missing', [{ legacy: 'x' }]],
  ['another order', { sameSet: true }, 'order', [{}], 'OpportunityDetails'],
  ['another text of a fault', { ignore: true }, 'fault', [{ legacy: 'a', new: 'b' }], '@fault.reason'],
  ['an unreadable reply', undefined, 'unreadable', [{}], '@reply'],
  ['another packaging', undefined, 'frame', [{}], '@frame'],
];

for (const [title, expected, ...given] of cases)
  test(`G73: suggests a valid rule for ${title}, or none`, (t) => {
    t.deepEqual(actionOf(...given), expected);
  });
