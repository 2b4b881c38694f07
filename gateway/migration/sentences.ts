import type { Contract } from '../../mappings/contract/model.ts';
import {
  type Conditions,
  isOf,
  isUnconditional,
  type Routing,
  type Rule,
  type ValueCondition,
} from './routing.ts';

// Routes as sentences (G49).

/** Returns a sentence for each operation, in the order of the contract. */
export function operationSentences(routing: Routing, { operations }: Contract): readonly string[] {
  return operations.map(({ name }) => `${name}: ${operationRoute(routing, name)}.`);
}

/** Returns a sentence for each rule, in the order of the file. */
export function ruleSentences({ rules }: Routing): readonly string[] {
  return rules.map((rule) => {
    const of = rule.operations === undefined ? 'all operations' : [...rule.operations].join(', ');
    return `${rule.name}: ${modeText(rule)} for ${of}${conditionText(rule)}.`;
  });
}

/** Returns the route of an operation as the part of a sentence. */
export function operationRoute({ rules }: Routing, operation: string): string {
  const parts: string[] = [];
  for (const rule of rules) {
    if (!isOf(rule, operation)) continue;
    parts.push(`${modeText(rule)}${conditionText(rule)} ("${rule.name}")`);
    if (isUnconditional(rule)) return parts.join(', else ');
  }
  return [...parts, 'legacy'].join(', else ');
}

/** Returns the mode of a rule, with the settings of `compare` that differ from the defaults. */
function modeText({ mode, compare }: Rule): string {
  if (compare === undefined) return mode;
  const { answer, sample } = compare;
  const settings = [
    ...(answer === 'legacy' ? [] : [`answer ${answer}`]),
    ...(sample === 1 ? [] : [`sample ${Number((sample * 100).toPrecision(6))} %`]),
  ];
  return settings.length === 0 ? mode : `${mode} (${settings.join(', ')})`;
}

function conditionText({ when }: Rule): string {
  const conditions = conditionsOf(when);
  return conditions.length === 0 ? '' : ` if ${conditions.join(' and ')}`;
}

function conditionsOf({ callers, headers, values, percent }: Conditions): readonly string[] {
  const found: string[] = [];
  if (callers !== undefined) found.push(`the caller is ${listed([...callers])}`);
  for (const { name, values: wanted } of headers) {
    const texts = wanted.map((text) => Buffer.from(text, 'latin1').toString('utf8'));
    found.push(`header ${name} is ${listed(texts)}`);
  }
  for (const value of values) found.push(`${value.pathText} ${valueText(value)}`);
  if (percent?.by !== undefined) found.push(`${percent.by.pathText} is among ${percent.of} % of its values`);
  else if (percent !== undefined) found.push(`the caller is among ${percent.of} % of the callers`);
  return found;
}

function valueText({ test }: ValueCondition): string {
  if (test.kind === 'present' || test.kind === 'absent') return `is ${test.kind}`;
  return `${test.kind === 'equals' ? 'is' : 'starts with'} ${listed(test.texts)}`;
}

function listed(texts: readonly string[]): string {
  return texts.join(' or ');
}
