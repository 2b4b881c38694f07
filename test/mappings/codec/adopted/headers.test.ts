import test from 'ava';
import { withHeaders } from '../../../../mappings/codec/adopted/compile.ts';
import { MismatchError, startReading } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { get as binding, definitionsOf, schemaOf } from '../../loader/wsdl/wsdl-folder.ts';
import { element as e, maybe, operationOf, sequence, writeMessage } from './messages.ts';

/** The operation `Get` with a header block in both directions and a declared fault. */
const wsdl = definitionsOf(
  schemaOf(
    `<xs:element name="Get">${sequence(e('a', 'xs:string', maybe))}</xs:element>` +
      `<xs:element name="Session">${sequence(e('id', 'xs:int', maybe))}</xs:element>` +
      `<xs:element name="NoOrder">${sequence(e('order', 'xs:int', maybe))}</xs:element>` +
      e('Busy', 'xs:string'),
  ),
  `<w:message name="h"><w:part name="s" element="t:Session"/></w:message><w:message name="f"><w:part name="f" element="t:NoOrder"/></w:message><w:message name="g"><w:part name="f" element="t:Busy"/></w:message>${binding
    .replaceAll(
      '<soap:body use="literal"/>',
      '<soap:header message="t:h" part="s" use="literal"/><soap:body use="literal"/>',
    )
    .replace(
      '<w:output message="t:out"/>',
      '<w:output message="t:out"/><w:fault name="NoOrder" message="t:f"/><w:fault name="Busy" message="t:g"/>',
    )
    .replace(
      '</w:output></w:operation></w:binding>',
      '</w:output><w:fault name="NoOrder"><soap:fault name="NoOrder" use="literal"/></w:fault><w:fault name="Busy"><soap:fault name="Busy" use="literal"/></w:fault></w:operation></w:binding>',
    )}`,
);

function readerAt(text: string): XmlReader {
  const xml = new XmlReader(text, defaultLimits);
  xml.readRoot();
  return xml;
}

test('A8: a declared header block is the first member', (t) => {
  const { request } = operationOf(t, wsdl, 'Get');
  const xml = readerAt(
    '<t:Session xmlns:t="urn:t" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" s:mustUnderstand="1"><t:id>7</t:id></t:Session>',
  );
  t.true(request.declares(xml.namespace, xml.local));
  t.false(request.declares('urn:o', 'Session'));
  const reading = startReading(20);
  const header = request.readHeader(xml, reading);
  t.deepEqual([reading.problems, reading.ignored], [[], []]);
  t.is(withHeaders('{"a":"x"}', [header ?? '']), '{"@headers":{"Session":{"id":7}},"a":"x"}');
  t.is(withHeaders('{}', [header ?? '']), '{"@headers":{"Session":{"id":7}}}');
});

test('A8: @headers of a reply are its header blocks', (t) => {
  const { reply } = operationOf(t, wsdl, 'Get');
  if (reply === undefined) throw new Error('no reply');
  for (const json of [
    '{"@headers":{"Session":{"id":7}},"a":"x"}',
    '{"a":"x","@headers":{"Session":{"id":7}}}',
  ]) {
    const { headers, xml, dropped } = reply.write(Buffer.from(json));
    t.regex(headers, /^<n0:Session [^>]*xmlns:n0="urn:t"><n0:id>7<\/n0:id><\/n0:Session>$/);
    t.regex(xml.toString(), /^<n0:Get [^>]*><n0:a>x<\/n0:a><\/n0:Get>$/);
    t.is(dropped, 0);
  }
  t.throws(() => writeMessage(reply, '{"@headers":{"Session":{"id":"x"}}}'), {
    message: /^@headers\.Session\.id: expected xs:int/,
  });
  for (const [json, at] of [
    ['{"@headers":{"Session":{"id":7}},"@headers":{"Session":{"id":8}}}', '@headers'],
    ['{"@headers":{"Session":{"id":7},"Session":{"id":8}}}', '@headers.Session'],
  ] as const)
    t.throws(() => writeMessage(reply, json), {
      message: `${at}: expected the member once, got it again`,
    });
  t.throws(() => writeMessage(reply, '{"@headers":{"Sesion":{}}}'), {
    message: '@headers.Sesion: expected a declared header, got another',
  });
});

test('A8: a name shared by header blocks of several namespaces selects none', (t) => {
  const other =
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:u"><xs:element name="Session" type="xs:int"/></xs:schema></w:types>';
  const parts =
    '<w:part name="s" element="t:Session"/><w:part name="u" element="u:Session" xmlns:u="urn:u"/>';
  const declared = '<soap:header message="t:h" part="s" use="literal"/>';
  const both = wsdl.replace('</w:types>', other).replace('<w:part name="s" element="t:Session"/>', parts);
  const twiceTold = operationOf(t, both.replaceAll(declared, declared + declared), 'Get').reply;
  const shared = operationOf(
    t,
    both.replaceAll(declared, declared + declared.replace('"s"', '"u"')),
    'Get',
  ).reply;
  if (twiceTold === undefined || shared === undefined) throw new Error('no reply');
  const json = '{"@headers":{"Session":{"id":7}}}';
  t.regex(twiceTold.write(Buffer.from(json)).headers, /<n0:id>7</);
  t.throws(() => writeMessage(shared, json), {
    message: '@headers.Session: expected the name of one header block, got that of several namespaces',
  });
});

test('A8, A29: members next to a body without a place in the message count as dropped', (t) => {
  const { reply, faults } = operationOf(t, wsdl, 'Get');
  const bare = operationOf(t, wsdl.replaceAll(/<soap:header[^>]*>/g, ''), 'Get');
  if (reply === undefined || bare.reply === undefined) throw new Error('no reply');
  const droppedOf = (codec: typeof reply, json: string): number => codec.write(Buffer.from(json)).dropped;
  t.is(droppedOf(reply, '{"@fault":"NoOrder","@message":"gone","a":"x"}'), 2);
  t.is(droppedOf(reply, '{"@headers":{"Session":{"@headers":{},"id":7}}}'), 1);
  t.is(droppedOf(reply, '{"@headers":[{"Session":{"id":7}}]}'), 1);
  t.is(droppedOf(reply, '{"@headers":null}'), 0);
  t.is(droppedOf(bare.reply, '{"@headers":{"Session":{"id":7}},"a":"x"}'), 1);
  t.is(faults.write('{"@fault":"NoOrder","order":7,"@headers":{"Session":{}}}')?.dropped, 1);
  t.is(faults.write('{"@fault":"NoOrder","@message":"gone","order":7}')?.dropped, 0);
});

test('A29: extra members of a fault count as in a reply, and a repeated member is refused', (t) => {
  const { faults } = operationOf(t, wsdl, 'Get');
  t.is(faults.write('{"@fault":"NoOrder","order":7,"ordr":8}')?.dropped, 1);
  t.is(faults.write('{"@fault":"Busy","@message":"late","value":"x","other":1}')?.dropped, 1);
  t.is(faults.write('{"@fault":"Busy","value":"a\\u0001"}')?.replaced, 1);
  for (const [json, member] of [
    ['{"@fault":"Busy","value":"x","value":"y"}', 'value'],
    ['{"@fault":"NoOrder","@message":"a","@message":"b"}', '@message'],
    ['{"@fault":"NoOrder","order":1,"@fault":"Nothing"}', '@fault'],
  ] as const)
    t.throws(() => faults.write(json), { message: `${member}: expected the member once, got it again` });
});

test('A29: an error response with @fault is the declared fault of that name', (t) => {
  const { faults } = operationOf(t, wsdl, 'Get');
  const fault = faults.write('{"@fault":"NoOrder","@message":"there is none","order":7}');
  t.is(fault?.message, 'there is none');
  t.regex(fault?.detail ?? '', /^<n0:NoOrder [^>]*><n0:order>7<\/n0:order><\/n0:NoOrder>$/);
  t.regex(faults.write('{"@fault":"Busy","value":"x"}')?.detail ?? '', /^<n0:Busy [^>]*>x<\/n0:Busy>$/);
  t.is(faults.write('{"@fault":"NoOrder"}')?.message, 'NoOrder');
  t.throws(() => faults.write('{"@fault":"Other"}'), {
    instanceOf: MismatchError,
    message: '@fault: expected a declared fault (NoOrder, Busy), got another',
  });
  t.is(faults.write('{"error":1}'), undefined);
});

test('A29: a declared detail is read like that response', (t) => {
  const { faults } = operationOf(t, wsdl, 'Get');
  const read = (text: string) => faults.read(readerAt(text), startReading(20));
  t.is(read('<t:NoOrder xmlns:t="urn:t"><t:order>7</t:order></t:NoOrder>'), '{"@fault":"NoOrder","order":7}');
  t.is(read('<t:Busy xmlns:t="urn:t">x</t:Busy>'), '{"@fault":"Busy","value":"x"}');
  t.is(read('<t:Other xmlns:t="urn:t"/>'), undefined);
});
