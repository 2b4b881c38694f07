import test from 'ava';
import { Beginnings, FastPath } from '../../../../mappings/codec/fast-path/fast-path.ts';
import { startReading } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { XmlError } from '../../../../mappings/xml/error.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { compile, operationOf, screening } from '../contracts.ts';

/** Number of readings after which a prefix, and then the shape after it, is cached. */
const often = 8;
const lenient = { illegalReferences: true };
const strict = { illegalReferences: false };

/** Returns a message with this content of its head, and the content's position. */
function messageOf(
  head: string,
  body = '',
): { readonly document: Buffer; readonly start: number; readonly end: number } {
  const opens = '<m><head>';
  const document = Buffer.from(`${opens}${head}</head>${body}</m>`);
  return { document, start: opens.length, end: opens.length + Buffer.byteLength(head) };
}

function beginningsOf(quirks = strict, charset?: string): Beginnings<string> {
  const beginnings = new Beginnings<string>(defaultLimits, quirks);
  const { document, start } = messageOf('<a>x</a>');
  for (let time = 0; time < often; time++) {
    if (beginnings.find(document, charset) !== undefined) break;
    beginnings.learn(document, charset, start, 'head');
  }
  return beginnings;
}

test('a beginning that was met before is known, and is the same one each time', (t) => {
  const beginnings = beginningsOf();
  const { document, start } = messageOf('<b/>', '<c/>');
  const known = beginnings.find(document, undefined);
  t.is(known?.meaning, 'head');
  t.is(known?.length, start);
  t.is(beginnings.find(messageOf('').document, undefined), known);
  t.is(beginnings.find(document, 'utf-8'), undefined);
  t.is(beginnings.find(Buffer.from('<m><tail>'), undefined), undefined);
  t.is(beginningsOf(strict, 'utf-8').find(document, 'utf-8')?.meaning, 'head');
});

test('behind a known beginning a text is read as if all of it were, with the limits and exceptions of its contract', (t) => {
  const textOf = (quirks: typeof strict, head: string): string | undefined => {
    const { document } = messageOf(head);
    const xml = beginningsOf(quirks).find(document, undefined)?.read(document.toString());
    return xml?.nextChild() === true ? xml.readText(defaultLimits.xmlText, true) : undefined;
  };
  t.is(textOf(strict, '<a>é</a>'), 'é');
  t.is(textOf(lenient, '<a>&#1;</a>'), '\u0001');
  t.throws(() => textOf(strict, '<a>&#1;</a>'), { instanceOf: XmlError });
  const long = 'x'.repeat(defaultLimits.xmlText + 1);
  t.throws(() => textOf(strict, `<a>${long}</a>`), { instanceOf: XmlError });
});

test('what follows a known beginning is known once it was learned, whatever its texts are', (t) => {
  const beginnings = beginningsOf();
  const learned = messageOf('<a>x</a>');
  const known = beginnings.find(learned.document, undefined);
  if (known === undefined) return t.fail();
  t.is(known.readKnown(learned.document), undefined);
  const text = learned.document.toString('utf8', 0, learned.end + '</head>'.length);
  for (let time = 0; time < often; time++) known.learn(text);
  for (const [head, expected] of [
    ['<a>x</a>', 'x'],
    ['<a>Zo\u00eb</a>', 'Zo\u00eb'],
    ['<b>x</b>', undefined],
  ] as const) {
    const { document, start, end } = messageOf(head, '<c/>');
    const reader = known.readKnown(document);
    t.is(reader !== undefined, expected !== undefined, head);
    if (reader === undefined) continue;
    t.is(reader.local, 'head');
    t.true(reader.nextChild());
    t.is(reader.readText(10, false), expected);
    t.false(reader.nextChild());
    t.is(reader.position, end + '</head>'.length - start);
  }
  return t.pass();
});

const compiled = compile(screening);
const { types } = screening.namespaces;
const operation = operationOf(compiled, 'UpdateSubUser');
/** Start tag of an envelope, and a call in it. */
const opens = '<e:e xmlns:e="urn:e">';
const call = (user: string, permission = 'p'): string =>
  `<UpdateSubUser xmlns="${types}"><Request><Permissions><string>${permission}</string></Permissions><SubUserName>${user}</SubUserName></Request></UpdateSubUser></e:e>`;
const wrapperEnd = (text: string): number => text.indexOf('>', text.indexOf('<UpdateSubUser')) + 1;

function readEnveloped(xml: XmlReader, reading = startReading(20)) {
  const input = operation.readXml(xml, reading);
  xml.nextChild();
  xml.finish();
  return input;
}

function pathThatKnows(...texts: readonly string[]): FastPath<string> {
  const path = new FastPath<string>(compiled.limits, strict);
  for (const text of texts)
    for (let time = 0; time < 3 * often; time++) {
      const bytes = Buffer.from(text);
      const match = path.match(bytes, undefined);
      if (match === undefined)
        path.learnOpening(bytes, undefined, wrapperEnd(text), 'update', {
          input: operation.operation.input,
          writeCredentials: operation.writeCredentials,
        });
      else
        match.learnShape(text, (snapshot, reading) => {
          const xml = new XmlReader(text, compiled.limits, strict);
          xml.resume(snapshot);
          return readEnveloped(xml, reading);
        });
    }
  return path;
}

test('a request is known without what stands behind a known beginning', (t) => {
  const plain = `${opens}${call('jane')}`;
  const path = pathThatKnows(plain);
  const known = new Beginnings<string>(defaultLimits, strict);
  const other = new Beginnings<string>(defaultLimits, strict);
  for (const beginnings of [known, other])
    for (let time = 0; time < often; time++)
      beginnings.learn(Buffer.from(plain), undefined, opens.length, 'envelope');
  const [beginning, another] = [known, other].map((each) => each.find(Buffer.from(plain), undefined));
  if (beginning === undefined || another === undefined) return t.fail();
  const head = '<h>head</h>';
  const end = opens.length + head.length;
  const read = (text: string, from = beginning, behind = end, charset?: string) => {
    const match = path.matchWithout(Buffer.from(text), charset, from, behind);
    return match && { meaning: match.meaning, json: match.readInput()?.text.toString() };
  };
  const update = (user: string, permission = 'p') => ({
    meaning: 'update',
    json: `{"request":{"permissions":["${permission}"],"subUserName":"${user}"}}`,
  });
  for (let time = 0; time < 3; time++) {
    t.deepEqual(read(`${opens}${head}${call('bob')}`), update('bob'));
    t.deepEqual(read(`${opens}${head}${call('Zo\u00eb', 'q')}`), update('Zo\u00eb', 'q'));
    t.deepEqual(read(`${opens}${head}${call('bob')}`, another), update('bob'));
    t.deepEqual(read(`${opens}${head.slice(0, -1)}X${call('bob')}`), update('bob'));
    t.deepEqual(read(`${opens}<h/>${call('ann')}`, beginning, opens.length + 4), update('ann'));
    t.is(read(`${opens}${head}${call('bob')}`, beginning, end + 1), undefined);
    t.is(read(`${opens}${head}${call('bob').replace('UpdateSubUser', 'UpdateSubUsex')}`), undefined);
    t.deepEqual(read(`${opens}${head}${call('bob').replace('</Request>', '<!----></Request>')}`), {
      meaning: 'update',
      json: undefined,
    });
  }
  t.is(
    path.matchWithout(Buffer.from(`${opens}${head}${call('bob')}`), 'utf-8', beginning, end + 1),
    undefined,
  );
  return t.pass();
});

test('a reader begins behind what is known of the document that was read last, and else at its beginning', (t) => {
  const text = `${opens}${call('jane')}`;
  const path = pathThatKnows(text);
  const position = (document: string): number => {
    const xml = new XmlReader(document, compiled.limits, strict);
    path.match(Buffer.from(document), undefined)?.resume(xml);
    return xml.position;
  };
  t.is(position(text), wrapperEnd(text));
  t.is(position(`${text} `), wrapperEnd(text));
  t.is(position(` ${text}`), 0);
});
