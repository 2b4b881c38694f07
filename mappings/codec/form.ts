import type { Limits } from '../limits.ts';
import type { DeepLists, RequestBody } from '../model.ts';
import { compileParameter, encodeName, encodeText, pairsOf, type WriteParameter } from './parameter.ts';
import { membersOf, readPart } from './part.ts';
import { type Reading, refuse } from './problem.ts';

/** A JSON object as `application/x-www-form-urlencoded`: `name=value` pairs, encoded as in a query. */
export type WriteForm = (json: string, reading: Reading) => string;

/** The members whose form the document says go by that; of the others lists repeat their name, objects go deep. */
export function compileForm(
  { members: stated, deepLists }: Extract<RequestBody, { kind: 'form' }>,
  limits: Limits,
): WriteForm {
  const writers = new Map(
    stated.map((member) => [
      member.name,
      compileParameter(
        { ...member, field: member.name, in: 'query', spansSegments: false, deepLists },
        limits,
      ),
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
      const write = writers.get(name) ?? ((token) => pairsByKind(name, token, deepLists, limits));
      const pair = write(value);
      if (typeof pair === 'string') pairs.push(pair);
      else if (pair !== undefined) refuseMember(reading, name, pair);
    }
    return pairs.join('&');
  };
}

function pairsByKind(
  name: string,
  json: string,
  deepLists: DeepLists,
  limits: Limits,
): ReturnType<WriteParameter> {
  const part = readPart(json, limits);
  const key = encodeName(name);
  const isList = part.kind === 'list' && part.items.every(({ kind }) => kind === 'text');
  const pairs = isList
    ? part.items.flatMap((item) => pairsOf(key, item, deepLists, encodeText))
    : pairsOf(key, part, deepLists, encodeText);
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
