import test, { type ExecutionContext } from 'ava';
import { compileComparison } from '../../../mappings/compare/compare.ts';
import type { Contract } from '../../../mappings/contract/model.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { folderOf, getOf } from '../loader/wsdl/wsdl-folder.ts';
import { envelope, legacyReply } from './replies.ts';

const declarations =
  '<xs:complexType name="Open"><xs:sequence><xs:any processContents="lax" minOccurs="0" maxOccurs="9"/></xs:sequence><xs:anyAttribute processContents="lax"/></xs:complexType>' +
  '<xs:complexType name="Mixed" mixed="true"><xs:sequence><xs:any processContents="lax" minOccurs="0" maxOccurs="9"/></xs:sequence></xs:complexType>' +
  '<xs:complexType name="Outer"><xs:sequence><xs:element name="Open" type="t:Open" minOccurs="0"/><xs:element name="Id" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>';
const members = ['O:t:Open', 'M:t:Mixed', 'A:xs:anyType', 'W:t:Outer', 'S:xs:string'].map((member) => {
  const [name, ...type] = member.split(':');
  return `<xs:element name="${name}" type="${type.join(':')}" minOccurs="0"/>`;
});

const secret: Contract['credentials'] = {
  member: undefined,
  send: 'headers',
  parts: [
    {
      name: 'Pin',
      xml: 'Pin',
      header: 'X-Pin',
      sent: { in: 'header', name: 'X-Pin' },
      required: false,
      secret: true,
    },
  ],
};

/** Returns a function that compares two contents, and the sensitivity of each difference. */
function marking(t: ExecutionContext, own: Partial<Contract>) {
  const wsdl = getOf(
    `<xs:complexType><xs:sequence>${members.join('')}</xs:sequence></xs:complexType>`,
    declarations,
  );
  const files = { 'service.wsdl': wsdl, 'soap.yaml': 'wsdl: service.wsdl\n' };
  const { compare } = compileComparison({ ...readContract(folderOf(t, files)).contract, ...own });
  const names =
    'xmlns:t="urn:t" xmlns:o="urn:o" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  const reply = (content: string) =>
    legacyReply({ status: 200, body: envelope(`<Get xmlns="urn:t" ${names}>${content}</Get>`) });
  return (legacy: string, fresh: string): string =>
    compare('Get', reply(legacy), reply(fresh))
      .differences.map(({ sensitivity }) => sensitivity ?? 'none')
      .join();
}

/** Contents with open values. `_` marks the place of the value. */
const contents = [
  '<O><o:x>_</o:x></O>',
  '<O><o:x><o:y>_</o:y></o:x></O>',
  '<O o:x="_"/>',
  '<M>_</M>',
  '<M>a<o:x>_</o:x></M>',
  '<A>_</A>',
  '<A><o:x>_</o:x></A>',
  '<A xsi:type="xs:string">_</A>',
  '<W><Open><o:x>_</o:x></Open></W>',
  '<S><o:x>_</o:x></S>',
];

for (const content of contents) {
  const [one, other] = [content.replace('_', 'Ann'), content.replace('_', 'Bea')];

  test(`values without a declared type are personal: ${content} (G45)`, (t) => {
    const personal = marking(t, { personal: ['Name'] });
    t.is(personal(one, other), 'personal');
    t.is(personal(one, ''), 'personal');
    t.is(personal('', one), 'personal');
    t.is(marking(t, { credentials: secret })(one, other), 'personal');
    t.is(marking(t, {})(one, other), 'none');
  });

  if (content.includes('o:x'))
    test(`credentials in open content have their names: ${content} (G45)`, (t) => {
      const run = marking(t, { personal: ['Name'], credentials: secret });
      const named = (text: string): string => text.replaceAll('o:x', 'o:PIN');
      t.is(run(named(one), named(other)), 'credential');
      t.is(run(named(one), ''), 'credential');
      t.is(run('', named(one)), 'credential');
    });
}

test('values of declared types in the same replies are not sensitive (G45)', (t) => {
  const run = marking(t, { personal: ['Name'], credentials: secret });
  t.is(run('<W><Id>1</Id></W>', '<W><Id>2</Id></W>'), 'none');
  t.is(run('<W><Id>1</Id></W>', ''), 'none');
  t.is(run('<O><o:x>1</o:x></O><S>a &lt; b</S>', '<O><o:x>1</o:x></O><S>c</S>'), 'none');
});

test('an attribute with the name of a credential makes XML a credential (G45)', (t) => {
  const run = marking(t, { credentials: secret });
  t.is(run('<O><o:x Pin="1"/></O>', '<O><o:x Pin="2"/></O>'), 'credential');
  t.is(run('<O><o:x o:pin="1"/></O>', '<O><o:x o:pin="2"/></O>'), 'credential');
  t.is(run('<O><o:x a=" Pin"/></O>', '<O><o:x a=" Pi"/></O>'), 'personal');
});
