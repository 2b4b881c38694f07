import test from 'ava';
import { compiledGet, element, maybe, operationOf, readMessage, sequence } from './adopted/messages.ts';
import { compile, operationOf as compiledOperation, depot, readXml } from './contracts.ts';

const drafts = ['1999', '2000/10', '2001'] as const;

const declarations =
  `<xs:complexType name="Base"><xs:sequence>${element('x', 'xs:string', maybe)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="Sub"><xs:complexContent><xs:extension base="t:Base"><xs:sequence>${element('y', 'xs:string', maybe)}</xs:sequence></xs:extension></xs:complexContent></xs:complexType>`;
const many = 'minOccurs="0" maxOccurs="9" nillable="true"';
const type = sequence(
  element('s', 'xs:string', many) +
    element('i', 'xs:int', many) +
    element('b', 't:Base', many) +
    element('any', 'xs:anyType', many) +
    element('plain', 'xs:int', maybe) +
    '<xs:any namespace="##other" processContents="lax" minOccurs="0"/>',
);

for (const draft of drafts) {
  const root = (content: string): string =>
    `<Get xmlns="urn:t" xmlns:t="urn:t" xmlns:o="http://www.w3.org/${draft}/XMLSchema-instance" xmlns:x="http://www.w3.org/${draft}/XMLSchema">${content}</Get>`;

  test(`A25: null and nil of XMLSchema-instance ${draft} are nil`, (t) => {
    const { request } = compiledGet(t, type, declarations);
    const read = readMessage(
      request,
      root(
        '<s o:null="1"/><s o:nil=" true "/><s o:null="0">a</s><i o:null="true"/><b o:nil="1"/><any o:null="1"/><plain o:null="true"/>',
      ),
    );
    t.deepEqual(read.problems, []);
    t.is(read.json, '{"s":[null,null,"a"],"i":[null],"b":[null],"any":[null]}');
    t.deepEqual(read.ignored, []);
    const wrong = readMessage(request, root('<s o:null="yes"/><s o:null="1">a</s>'));
    t.is(wrong.problems.length, 2);
  });

  test(`A18, A23: type of XMLSchema-instance ${draft} sets the type, built-in types too`, (t) => {
    const { request } = compiledGet(t, type, declarations);
    const read = readMessage(
      request,
      root(
        '<i o:type="x:int">1</i><b o:type="t:Sub"><x>a</x><y>b</y></b><any o:type="x:int">7</any><any o:type="t:Base"><x>a</x></any><any o:type="x:string">a</any>',
      ),
    );
    t.deepEqual(read.problems, []);
    t.is(
      read.json,
      '{"i":[1],"b":[{"@type":"Sub","x":"a","y":"b"}],"any":[{"@type":"xs:int","value":7},{"@type":"Base","x":"a"},"a"]}',
    );
    const wrong = readMessage(request, root('<i o:type="x:string">1</i><b o:type="t:Get"/>'));
    t.is(wrong.problems.length, 2);
  });

  test(`A22: a wildcard element keeps the declaration for type of XMLSchema-instance ${draft}`, (t) => {
    const { request } = compiledGet(t, type, declarations);
    const { json } = readMessage(request, root('<z xmlns="urn:z" o:type="t:Base"/>'));
    t.regex(json, /xmlns:t=\\"urn:t\\"/);
  });

  test(`A30: encoded arrays and values read null and type of XMLSchema-instance ${draft}`, (t) => {
    const { request } = operationOf(t, encoded, 'Op');
    const text = `<Op xmlns:o="http://www.w3.org/${draft}/XMLSchema-instance" xmlns:x="http://www.w3.org/${draft}/XMLSchema" xmlns:e="http://schemas.xmlsoap.org/soap/encoding/">`;
    const read = readMessage(
      request,
      `${text}<list o:type="e:Array" e:arrayType="x:int[2]"><item o:type="x:int">1</item><item o:null="1"/></list><any o:type="x:int">4</any></Op>`,
    );
    t.deepEqual(read.problems, []);
    t.is(read.json, '{"list":[1,null],"any":{"@type":"xs:int","value":4}}');
  });

  test(`W11, W13: an OpenAPI contract reads null and type of XMLSchema-instance ${draft}`, (t) => {
    const declared = ` xmlns:o="http://www.w3.org/${draft}/XMLSchema-instance" xmlns:x="http://www.w3.org/${draft}/XMLSchema"`;
    const compiled = compile(depot);
    const bodyOf = (content: string) => {
      const { input, problems } = readXml(compiled, 'SendParcel', `<Body>${content}</Body>`, declared);
      t.deepEqual(problems, []);
      return JSON.parse(compiledOperation(compiled, 'SendParcel').jsonOf(input)).Body;
    };
    t.deepEqual(
      bodyOf(
        '<name o:type="x:string">n</name><note o:null="1"/><fragile o:null="true"/><anything o:nil="1"/><wrapping o:null="1"/>',
      ),
      { name: 'n', note: null, anything: null, wrapping: null },
    );
    t.deepEqual(bodyOf('<name o:type="x:base64Binary">w6Q=</name>'), { name: 'ä' });
  });
}

test('A23: built-in types of drafts have their final names', (t) => {
  const { request } = compiledGet(t, type, declarations);
  const names = ['timeInstant', 'timeDuration', 'uriReference', 'ur-type'];
  const values = ['2001-01-01T00:00:00Z', 'P1D', 'urn:x', 'a'];
  const content = names.map((name, index) => `<any o:type="x:${name}">${values[index]}</any>`).join('');
  const read = readMessage(
    request,
    `<Get xmlns="urn:t" xmlns:o="http://www.w3.org/1999/XMLSchema-instance" xmlns:x="http://www.w3.org/1999/XMLSchema">${content}</Get>`,
  );
  t.deepEqual(read.problems, []);
  const { any } = JSON.parse(read.json);
  t.deepEqual(
    any.map((one: { '@type'?: string }) => one['@type'] ?? 'text'),
    ['xs:dateTime', 'xs:duration', 'xs:anyURI', 'text'],
  );
});

const encoded = `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xmlns:t="urn:t" targetNamespace="urn:t"><w:types><xs:schema targetNamespace="urn:t"><xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/><xs:complexType name="Ints"><xs:complexContent><xs:restriction base="e:Array"><xs:attribute ref="e:arrayType" w:arrayType="xs:int[]"/></xs:restriction></xs:complexContent></xs:complexType></xs:schema></w:types><w:message name="m"><w:part name="list" type="t:Ints"/><w:part name="any" type="xs:anyType"/></w:message><w:portType name="P"><w:operation name="Op"><w:input message="t:m"/></w:operation></w:portType><w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Op"><soap:operation soapAction=""/><w:input><soap:body use="encoded"/></w:input></w:operation></w:binding><w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/s"/></w:port></w:service></w:definitions>`;
