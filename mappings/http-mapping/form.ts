import { type Reading, refuse, refuseAt } from '../codec/problem.ts';
import type { Limits } from '../contract/limits.ts';
import type { DeepLists, RequestBody, Type } from '../contract/model.ts';
import { membersOf, readPart } from '../json/parts.ts';
import {
  compileParameter,
  encodeName,
  encodeText,
  maxFormCharacters,
  nameFor,
  namesTaken,
  pairsOf,
  sameName,
  TextBudget,
  Unfit,
} from './parameter.ts';

/** Writes a JSON object as `application/x-www-form-urlencoded`: `name=value` pairs, encoded as in a query. */
export type WriteForm = (json: string, reading: Reading) => string;

/**
 * Compiles the writer of a form. Members have the form that the document declares. Of other members, lists repeat their
 * name and objects have nested names.
 */
export function compileForm(
  { members: stated, deepLists }: Extract<RequestBody, { kind: 'form' }>,
  type: Type | undefined,
  limits: Limits,
): WriteForm {
  const most = maxFormCharacters(limits);
  const fields = type?.kind === 'record' ? type.fields : [];
  const names = [...stated.map(({ name }) => name), ...fields.map(({ json }) => json)];
  const own = new Set(names);
  const taken = namesTaken(names, undefined);
  const writers = new Map(
    stated.map((member) => [
      member.name,
      compileParameter(
        { ...member, field: member.name, in: 'query', spansSegments: false, deepLists },
        limits,
        most,
        namesTaken(
          names.filter((name) => name !== member.name),
          fields.find(({ json }) => json === member.name)?.type,
        ),
      ),
    ]),
  );
  const budget = new TextBudget(most);
  const pairsByKind = kindWriter(deepLists, limits);
  return (json, reading) => {
    const members = membersOf(json, limits);
    if (members === undefined) {
      refuse(reading, 'InvalidType', { expected: 'an object for a form', got: 'another value' });
      return '';
    }
    const pairs: string[] = [];
    budget.clear();
    for (const [name, value] of members) {
      if (value === 'null') continue;
      if (!own.has(name) && taken.has(nameFor(name))) {
        refuseAt(reading, name, sameName.code, sameName.reason);
        continue;
      }
      try {
        const write = writers.get(name);
        const pair = write === undefined ? pairsByKind(name, value) : write(value);
        if (typeof pair === 'string') pairs.push(budget.take(pair));
        else if (pair !== undefined) refuseAt(reading, name, pair.code, pair.reason);
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        refuseAt(reading, name, error.refusal.code, error.refusal.reason);
        break;
      }
    }
    return pairs.join('&');
  };
}

/**
 * Returns the writer of members without a declared form: lists repeat their name, objects have nested names. Throws
 * Unfit.
 */
function kindWriter(
  deepLists: DeepLists,
  limits: Limits,
): (name: string, json: string) => string | undefined {
  const budget = new TextBudget(maxFormCharacters(limits));
  return (name, json) => {
    budget.clear();
    const part = readPart(json, limits);
    const key = encodeName(name);
    const isList = part.kind === 'list' && part.items.every(({ kind }) => kind === 'text');
    const pairs = isList
      ? part.items.flatMap((item) => pairsOf(key, item, deepLists, encodeText, budget))
      : pairsOf(key, part, deepLists, encodeText, budget);
    return pairs.length === 0 ? undefined : pairs.join('&');
  };
}
