import type { Limits } from '../limits.ts';
import type { FormMember } from '../model.ts';
import { compileParameter, encodeName, encodeText, pairsOf, type WriteParameter } from './parameter.ts';
import { membersOf, readPart } from './part.ts';
import { type Reading, refuse } from './problem.ts';

/** A JSON object as `application/x-www-form-urlencoded`: `name=value` pairs, encoded as in a query. */
export type WriteForm = (json: string, reading: Reading) => string;

/** @param stated the members whose form the document says; of the others lists repeat their name, objects go deep */
export function compileForm(stated: readonly FormMember[], limits: Limits): WriteForm {
  const writers = new Map(
    stated.map((member) => [
      member.name,
      compileParameter({ ...member, field: member.name, in: 'query' }, limits),
    ]),
  );
  return (json, reading) => {
    const members = membersOf(json, limits);
    if (members === undefined) {
      refuse(reading, 'InvalidType', 'expected an object for a form, got another value');
      return '';
    }
    const pairs: string[] = [];
    for (const [name, value] of members) {
      if (value === 'null') continue;
      const write = writers.get(name) ?? ((token) => pairsByKind(name, token, limits));
      const pair = write(value);
      if (typeof pair === 'string') pairs.push(pair);
      else if (pair !== undefined) refuseMember(reading, name, pair);
    }
    return pairs.join('&');
  };
}

function pairsByKind(name: string, json: string, limits: Limits): ReturnType<WriteParameter> {
  const part = readPart(json, limits);
  const key = encodeName(name);
  const isList = part.kind === 'list' && part.items.every(({ kind }) => kind === 'text');
  const pairs = isList
    ? part.items.flatMap((item) => pairsOf(key, item, encodeText))
    : pairsOf(key, part, encodeText);
  return pairs.length === 0 ? undefined : pairs.join('&');
}

function refuseMember(
  reading: Reading,
  name: string,
  { code, says }: Exclude<ReturnType<WriteParameter>, string | undefined>,
): void {
  reading.path.push(name);
  refuse(reading, code, says);
  reading.path.pop();
}
