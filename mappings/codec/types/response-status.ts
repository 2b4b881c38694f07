import type { RecordType, Settings, Type } from '../../contract/model.ts';
import type { JsonReader } from '../../json/reader.ts';

/** What an upstream said of a call's outcome, made to fit its type: nothing in it makes a reply fail (W30). */
export interface Status {
  /** Not empty when the call failed. */
  readonly errorCode: string | undefined;
  /** The members as one JSON object of the type; `stackTrace` as the settings say. */
  readonly text: string;
}

/** How a text of the status is written; undefined leaves its member out. */
export type TakeText = (member: string, value: string) => string | undefined;

/** The responseStatus that starts at the reader; undefined when it is no object. Counts what it leaves out. */
export function readStatus(
  json: JsonReader,
  type: RecordType,
  settings: Settings,
  redact: TakeText,
): Status | undefined {
  const start = json.peek();
  if (start !== 123) {
    if (start !== 110) json.dropped++;
    json.skip();
    return undefined;
  }
  let errorCode: string | undefined;
  const keepStackTrace = settings.stackTrace === 'keep';
  let depth = 0;
  const take: TakeText = (member, value) => {
    if (depth === 1 && member === 'errorCode' && value !== '') errorCode = value;
    return member === 'stackTrace' && !keepStackTrace ? undefined : redact(member, value);
  };

  /** The value that starts here as JSON of the type; undefined when it doesn't fit and is dropped. */
  const tidy = (inner: Type, member: string): string | undefined => {
    const code = json.peek();
    if (code === 110) return json.literal();
    if (inner.kind === 'record' && code === 123) {
      depth++;
      const written = object((name) => inner.fields.find((field) => field.json === name)?.type);
      depth--;
      return written;
    }
    if (inner.kind === 'map' && code === 123) return object(() => inner.value, member);
    if (inner.kind === 'array' && code === 91) return array(inner.item, member);
    if ((inner.kind === 'scalar' || inner.kind === 'enum') && code !== 123 && code !== 91) {
      const text =
        code === 34 ? json.string() : code === 116 || code === 102 ? json.literal() : json.number();
      const taken = take(member, text);
      return taken === undefined ? undefined : JSON.stringify(taken);
    }
    json.dropped++;
    json.skip();
    return undefined;
  };

  const object = (typeOf: (name: string) => Type | undefined, member?: string): string => {
    const seen = new Set<string>();
    const parts: string[] = [];
    json.enter();
    for (let first = true; json.next(first, 125); first = false) {
      const name = json.name();
      const inner = typeOf(name);
      // a key of meta is the upstream's own word, as its value is
      const told = member === undefined ? name : redact(member, name);
      if (inner === undefined || told === undefined || seen.has(told)) {
        json.dropped++;
        json.skip();
        continue;
      }
      seen.add(told);
      const value = tidy(inner, member ?? name);
      if (value !== undefined) parts.push(`${JSON.stringify(told)}:${value}`);
    }
    return `{${parts.join(',')}}`;
  };

  const array = (item: Type, member: string): string => {
    const parts: string[] = [];
    json.enter();
    for (let first = true; json.next(first, 93); first = false) {
      const value = tidy(item, member);
      if (value !== undefined) parts.push(value);
    }
    return `[${parts.join(',')}]`;
  };

  const text = tidy(type, '');
  return text === undefined ? undefined : { errorCode, text };
}
