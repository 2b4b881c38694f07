import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import test from 'ava';
import type { RequestReader } from '../../../mappings/codec/context.ts';
import { applyEdits, MismatchError, startReading } from '../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { type Contract, namespaces, type Type } from '../../../mappings/contract/model.ts';
import type { UpstreamRequest } from '../../../mappings/http-mapping/call.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import { JsonReader } from '../../../mappings/json/reader.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';
import { fc } from '../../property.ts';
import {
  type BothWays,
  codecsOf,
  compile,
  depot,
  readJson,
  readXmlText,
  screening,
  writeReply,
} from './contracts.ts';
import { findInvalid, parseElement, respell } from './elements.ts';
import { canonical, comparable, picker, tell, valuesOf } from './values.ts';

const contracts = { 'the screening contract': screening, 'a contract of the dialect plain': depot } as const;

const seeds = fc.integer();

/**
 * Returns every type that has its own codec. ResponseStatus, which replies check separately, is included as it is read
 * there.
 */
function typesOf(contract: Contract): readonly (readonly [name: string, type: Type, codec: BothWays])[] {
  const codecs = codecsOf(contract);
  const named = contract.types.map((type) => [type.name, type, codecs.codecOf(type)] as const);
  const wrappers = contract.operations.flatMap(({ input, output }) =>
    [input, output].map((type) => [type.name, type, codecs.codecOf(type)] as const),
  );
  return [...named, ...wrappers];
}

function write(codec: BothWays, text: string): string | null {
  const { content, dropped, replaced, failed } = codec.write(text);
  strictEqual(dropped, 0);
  strictEqual(replaced, 0);
  strictEqual(failed, false);
  return content;
}

function read(codec: RequestReader, xmlText: string): string | undefined {
  const xml = new XmlReader(xmlText, defaultLimits);
  const reading = startReading(20);
  xml.readRoot();
  const text = codec.read(xml, reading);
  xml.finish();
  deepStrictEqual(reading.problems, []);
  return text;
}

function elementOf(contract: Contract, codec: BothWays, content: string): string {
  return `<e xmlns="${contract.namespaces.types}" xmlns:i="${namespaces.xsi}"${codec.declarations}>${content}</e>`;
}

function pass(codec: RequestReader, text: string): string {
  const json = new JsonReader(text, defaultLimits);
  const reading = startReading(20);
  codec.pass(json, reading);
  json.end();
  deepStrictEqual(reading.problems, []);
  return applyEdits(text, reading.edits);
}

/** Changes the ASCII case of a name (W37). */
function respellName(name: string, way: number): string {
  if (way === 0) return JSON.stringify(name);
  return JSON.stringify(way === 1 ? name.toUpperCase() : name.toLowerCase());
}

for (const [title, contract] of Object.entries(contracts)) {
  const numRuns = contract === screening ? 20 : 80;

  test(`${title}: a value of any type reads as it was written`, (t) => {
    for (const [name, type, codec] of typesOf(contract)) {
      t.notThrows(
        () =>
          fc.assert(
            fc.property(valuesOf(type, contract, { nulls: true }), (value) => {
              const text = tell(value);
              const content = write(codec, text) ?? '';
              const back = read(codec, elementOf(contract, codec, content)) ?? '';
              deepStrictEqual(comparable(back), comparable(text));
            }),
            { numRuns },
          ),
        name,
      );
    }
  });

  test(`${title}: output is well-formed and valid against its type`, (t) => {
    for (const [name, type, codec] of typesOf(contract)) {
      t.notThrows(
        () =>
          fc.assert(
            fc.property(valuesOf(type, contract, { nulls: true }), seeds, (value, seed) => {
              const content = write(codec, tell(value, { ...canonical, pick: picker(seed) })) ?? '';
              const element = parseElement(elementOf(contract, codec, content));
              strictEqual(findInvalid(element, type, contract), undefined);
            }),
            { numRuns },
          ),
        name,
      );
    }
  });

  test(`${title}: W18: order of JSON members and blanks do not change the XML`, (t) => {
    for (const [name, type, codec] of typesOf(contract)) {
      t.notThrows(
        () =>
          fc.assert(
            fc.property(valuesOf(type, contract, { nulls: true }), seeds, (value, seed) => {
              const told = tell(value, { ...canonical, pick: picker(seed) });
              strictEqual(write(codec, told), write(codec, tell(value)));
            }),
            { numRuns },
          ),
        name,
      );
    }
  });

  test(`${title}: W11: order of elements, prefixes, blanks and comments do not change the JSON`, (t) => {
    for (const [name, type, codec] of typesOf(contract)) {
      t.notThrows(
        () =>
          fc.assert(
            fc.property(valuesOf(type, contract, { nulls: true }), seeds, (value, seed) => {
              const text = tell(value);
              const element = parseElement(elementOf(contract, codec, write(codec, text) ?? ''));
              const back = read(codec, respell(element, type, picker(seed))) ?? '';
              deepStrictEqual(comparable(back), comparable(text));
            }),
            { numRuns },
          ),
        name,
      );
    }
  });

  test(`${title}: W37: a request in the contract's spelling is unchanged, others are converted`, (t) => {
    for (const [name, type, codec] of typesOf(contract)) {
      t.notThrows(
        () =>
          fc.assert(
            fc.property(valuesOf(type, contract, { nulls: true }), seeds, (value, seed) => {
              const own = tell(value, { ...canonical, pick: picker(seed) });
              const spelling = picker(seed + 1);
              const other = tell(value, {
                pick: picker(seed),
                name: (member) => respellName(member, spelling(3)),
                token: (text, quotable) => (quotable && spelling(2) === 0 ? JSON.stringify(text) : text),
              });
              strictEqual(pass(codec, own), own);
              strictEqual(pass(codec, other), own);
            }),
            { numRuns },
          ),
        name,
      );
    }
  });
}

// --- whole requests ------------------------------------------------------------------------------

const family = compile(screening);
const plain = compile(depot);
const faces = [family, plain].flatMap((compiled) =>
  [...compiled.operations.values()].map((operation) => ({
    compiled,
    operation,
    name: operation.operation.name,
  })),
);

const values = { all: new Map([['apiUserId', 'u']]), fromHeaders: new Set<string>() };

/** A corruption of a message: position, length, and a replacement, which may be a piece of the message itself. */
type Tear = readonly [place: number, length: number, piece: string | number];

const tears: fc.Arbitrary<readonly Tear[]> = fc.array(
  fc.tuple(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom(0, 0, 1, 2, 5, 30),
    fc.oneof(
      fc.constantFrom(
        ...[
          '<',
          '>',
          '/',
          '</',
          '/>',
          '&',
          '&amp;',
          '&#0;',
          '&#xD800;',
          ']]>',
          '<!--',
          '-->',
          '<![CDATA[',
          '<?x?>',
        ],
        ...[
          ' i:nil="true"',
          ' i:nil="x"',
          ' href="#1"',
          ' i:type="i:int"',
          ' xmlns="urn:x"',
          ' xmlns=""',
          '<x/>',
        ],
        ...[
          '<Id>',
          '</Id>',
          '<Request>',
          '<Request/>',
          '<a:string/>',
          '<Entry/>',
          '<Key>',
          'text',
          '\n',
          ' ',
        ],
        ...[
          '{',
          '}',
          '[',
          ']',
          ',',
          ':',
          '"',
          '"":',
          '\\',
          '\\u',
          '\\ud800',
          'null',
          'true',
          '""',
          '[]',
          '{}',
          '"x":1,',
        ],
        ...[
          '0',
          '-',
          '.',
          'e',
          '1e999',
          '99999999999999999999',
          '/Date(',
          ')/',
          '\u0000',
          '\ufffe',
          '\ud800',
          '😀',
        ],
        ...['"responseStatus":{"errorCode":"X"},', '"data":{},', '"id":1,', '"request":null,', '__proto__'],
      ),
      fc.double({ min: 0, max: 1, noNaN: true }),
    ),
  ),
  { minLength: 1, maxLength: 4 },
);

function tear(text: string, cuts: readonly Tear[]): string {
  let torn = text;
  for (const [place, length, piece] of cuts) {
    const at = Math.floor(place * (torn.length + 1));
    const from = typeof piece === 'number' ? Math.floor(piece * torn.length) : 0;
    const put = typeof piece === 'number' ? torn.slice(from, from + 40) : piece;
    torn = torn.slice(0, at) + put + torn.slice(at + length);
  }
  return torn;
}

for (const { compiled, operation, name } of faces) {
  const { contract } = compiled;
  const { input } = operation.operation;
  const inputs = valuesOf(input, contract, { nulls: false }).map((value) => tell(value));
  const codec = codecsOf(contract).codecOf(input);
  const told = (text: string) => {
    const { types } = contract.namespaces;
    return `<${name} xmlns="${types}" xmlns:i="${namespaces.xsi}">${write(codec, text)}</${name}>`;
  };

  test(`${name}: a request in XML and the same in JSON make the same call`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(inputs, (text) => {
          const fromXml = readXmlText(compiled, name, told(text));
          const fromJson = readJson(compiled, name, text);
          deepStrictEqual(fromXml.problems, []);
          deepStrictEqual(fromJson.problems, []);
          strictEqual(fromXml.missing.length, fromJson.missing.length);
          const [a, b] = [fromXml, fromJson].map(({ input }) => operation.request(input, values));
          strictEqual(a?.path, b?.path);
          deepStrictEqual(a?.headers, b?.headers);
          deepStrictEqual(...([bodyOf(a), bodyOf(b)] as const));
        }),
        { numRuns: 40 },
      ),
    );
  });

  test(`${name}: a damaged XML request is an XmlError, has problems, or gives JSON; nothing else`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(inputs, tears, (text, cuts) => {
          const torn = tear(told(text), cuts);
          const xml = new XmlReader(torn, defaultLimits, { acceptsIllegalReferences: true });
          const reading = startReading(20);
          try {
            xml.readRoot();
            const read = operation.readXml(xml, reading);
            xml.finish();
            checkRead(read.text.toString(), reading.slots, reading.problems);
          } catch (error) {
            ok(error instanceof XmlError, `${error}`);
          }
        }),
        { numRuns: 200 },
      ),
    );
  });

  test(`${name}: a damaged JSON request is a JsonError, has problems, or gives JSON; nothing else`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(inputs, tears, (text, cuts) => {
          const reading = startReading(20);
          try {
            const read = operation.readJson(tear(text, cuts), reading);
            checkRead(applyEdits(read.text.toString(), reading.edits), reading.slots, reading.problems);
            const body =
              reading.problems.length === 0 ? operation.request(read, fromHeaders)?.body : undefined;
            if (body !== undefined) ok(JSON.parse(body.toString()) !== undefined);
          } catch (error) {
            ok(error instanceof JsonError, `${error}`);
          }
        }),
        { numRuns: 200 },
      ),
    );
  });

  test(`${name}: a damaged reply is a JsonError, a mismatch, or valid XML; nothing else`, (t) => {
    const { output, upstream } = operation.operation;
    const reply = upstream.reply.kind === 'member' ? (output.fields[0]?.type ?? output) : output;
    // a text that is not an ISO 8601 date is allowed in a reply
    const { dates } = contract.settings;
    const lenient: Contract = {
      ...contract,
      settings: { ...contract.settings, dates: dates === 'iso' ? 'text' : dates },
    };
    t.notThrows(() =>
      fc.assert(
        fc.property(valuesOf(reply, contract, { nulls: true }), tears, (value, cuts) => {
          try {
            const { xml, failed } = writeReply(compiled, operation.operation.name, tear(tell(value), cuts));
            if (failed) return;
            strictEqual(findInvalid(parseElement(xml), output, lenient), undefined);
          } catch (error) {
            ok(error instanceof JsonError || error instanceof MismatchError, `${error}`);
          }
        }),
        { numRuns: 200 },
      ),
    );
  });
}

/** Returns a call's body without its credentials, whose position differs between XML and JSON requests. */
function bodyOf(call: UpstreamRequest | undefined): unknown {
  if (call?.body === undefined) return undefined;
  const body = comparable(call.body.toString());
  if (body instanceof Map) body.delete('authentication');
  return body;
}

function checkRead(text: string, slots: readonly (string | undefined)[], problems: readonly unknown[]): void {
  if (problems.length > 0) return;
  for (const token of [text, ...slots]) if (token !== undefined) ok(JSON.parse(token) !== undefined);
}

const fromHeaders = {
  all: new Map([
    ['apiUserId', 'u'],
    ['apiUserKey', 'k'],
    ['token', 't'],
  ]),
  fromHeaders: new Set(['apiUserKey']),
};
