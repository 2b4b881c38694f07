import test from 'ava';
import { XmlError } from '../../../../mappings/xml/error.ts';
import { load } from '../../../plain/documents.ts';
import { compile, operationOf, readJson, readXml, writeReply } from '../codec-calls.ts';
import { memberOf } from './member.ts';

const tree = 'http://www.w3.org/2005/xpath-functions';

/** An operation that takes and returns an object whose member `m` is any JSON, as a tree of elements. */
const content = { 'application/json': { schema: { type: 'object', properties: { m: {} } } } };
const put = {
  operationId: 'put',
  requestBody: { content },
  responses: { 200: { description: '', content } },
};
const info = { title: 'Trees', version: '1' };
const document = { openapi: '3.1.0', info, paths: { '/': { put } } };
const { contract } = load(document, undefined, { json: 'tree' });
const compiled = compile(contract);

/** Returns the JSON of the member, or its problem. */
function read(xml: string, declaration = ` xmlns="${tree}"`): string {
  const { input, problems } = readXml(
    compiled,
    'put',
    `<Body><m>${xml.replace(/^<[\w:]+/, `$&${declaration}`)}</m></Body>`,
  );
  if (problems.length > 0) return problems.join('; ').replaceAll('Body.m', 'm');
  const json = operationOf(compiled, 'put').jsonOf(input);
  return /^\{"Body":\{"m":(.*)\}\}$/.exec(json)?.[1] ?? json;
}

/** Returns the XML of the member of a reply without its namespace. */
function written(json: string): string {
  const { xml, replaced } = writeReply(compiled, 'put', `{"m":${json}}`);
  const [, value = ''] = /<m>(.*)<\/m>/s.exec(xml) ?? [];
  return `${value.replace(` xmlns="${tree}"`, '')}${replaced === 0 ? '' : ` ${replaced} replaced`}`;
}

const expected = 'expected one of <map>, <array>, <string>, <number>, <boolean>, <null>';
const long = 'e'.repeat(70);
const cut = 'e'.repeat(64);

for (const [xml, becomes] of [
  ['<map/>', '{}'],
  ['<map><null key="a"/></map>', '{"a":null}'],
  ['<map><number key="">1</number><string key="&quot;">x</string></map>', '{"":1,"\\"":"x"}'],
  ['<map><number key="a">1</number><number key="a">2</number></map>', '{"a":1,"a":2}'],
  ['<map><map key="a"><array key="b"><null/></array></map></map>', '{"a":{"b":[null]}}'],
  ['<map><null key="\\u0041" escaped-key="true"/></map>', '{"\\u0041":null}'],
  ['<map><null key="\\" escaped-key="false"/></map>', '{"\\\\":null}'],
  ['<map><null/></map>', 'NotEmpty m.map[0]: expected the attribute key, got none'],
  ['<map><null k:key="a" xmlns:k="urn:k"/></map>', 'NotEmpty m.map[0]: expected the attribute key, got none'],
  [
    '<map><number key="a">1</number><number key="b">x</number></map>',
    'InvalidType m.map[1]: expected a number as JSON writes it, got "x"',
  ],
  [
    '<map><null key="a\\" escaped-key="1"/></map>',
    'InvalidType m.map[0]: expected the escapes of JSON, as escaped says, got another one',
  ],
  [
    '<map><null key="a" escaped-key="on"/></map>',
    'InvalidType m.map[0]: expected true or false in escaped-key, got "on"',
  ],
  ['<map>a</map>', 'InvalidType m.map: expected elements, got text'],
  ['<array/>', '[]'],
  ['<array><number>1</number><string/><array/></array>', '[1,"",[]]'],
  ['<array>1</array>', 'InvalidType m.array: expected elements, got text'],
  ['<array><null/><other/></array>', `UnknownElement m.array[1]: ${expected}, got <other>`],
  [
    `<array><null xmlns="urn:x"/><array><${long}/></array></array>`,
    `UnknownElement m.array[0]: ${expected}, got <null>; UnknownElement m.array[1][0]: ${expected}, got <${cut}>`,
  ],
  ['<string> a "b"\n</string>', '" a \\"b\\"\\n"'],
  ['<string>&#xB;</string>', '"\\u000b"'],
  ['<string escaped="1">\\u0000\\n"\t\\"\n\\\\</string>', '"\\u0000\\n\\"\\t\\"\\n\\\\"'],
  ['<string escaped="true">\\\\u\\/\\b\\f\\r\\t\\uAf09</string>', '"\\\\u\\/\\b\\f\\r\\t\\uAf09"'],
  ['<string escaped="false">\\u</string>', '"\\\\u"'],
  [
    '<string escaped="true">\\u12g4</string>',
    'InvalidType m.string: expected the escapes of JSON, as escaped says, got another one',
  ],
  [
    '<string escaped="true">\\u00\\\\41</string>',
    'InvalidType m.string: expected the escapes of JSON, as escaped says, got another one',
  ],
  [
    '<string escaped="true">a\\</string>',
    'InvalidType m.string: expected the escapes of JSON, as escaped says, got another one',
  ],
  ['<string escaped="no">a</string>', 'InvalidType m.string: expected true or false in escaped, got "no"'],
  ['<string><b/></string>', 'InvalidType m.string: expected text, got elements'],
  ['<number> 1.50e3 </number>', '1.50e3'],
  ['<number>01</number>', 'InvalidType m.number: expected a number as JSON writes it, got "01"'],
  ['<number/>', 'InvalidType m.number: expected a number as JSON writes it, got ""'],
  ['<number><b/></number>', 'InvalidType m.number: expected text, got elements'],
  ['<boolean> true </boolean>', 'true'],
  ['<boolean>1</boolean>', 'true'],
  ['<boolean>false</boolean>', 'false'],
  ['<boolean>0</boolean>', 'false'],
  ['<boolean>no</boolean>', 'InvalidType m.boolean: expected xs:boolean, got "no"'],
  ['<boolean/>', 'InvalidType m.boolean: expected xs:boolean, got ""'],
  ['<boolean><b/></boolean>', 'InvalidType m.boolean: expected text, got elements'],
  ['<null> </null>', 'null'],
  ['<null>0</null>', 'InvalidType m.null: expected no content in <null>'],
  ['<null><b/></null>', 'InvalidType m.null: expected no content in <null>'],
  ['<number i:nil="true"/>', 'null'],
  ['<array><number i:nil="true"/></array>', '[null]'],
  ['<null/><null/>', 'DuplicateElement m.null: expected one element, got <null> too'],
  [`<null/><${long}/>`, `DuplicateElement m.${cut}: expected one element, got <${cut}> too`],
  [`<${long}/>`, `UnknownElement m.${cut}: ${expected}, got <${cut}>`],
  ['', `NotEmpty m: ${expected}, got none`],
  ['text', `InvalidType m: ${expected}, got text`],
  ['<null/>text', `InvalidType m: ${expected}, got text`],
] as const)
  test(`JSON as a tree of elements from ${xml}`, (t) => t.is(read(xml), becomes));

test('elements of a tree have its namespace or none', (t) => {
  t.is(read('<null/>', ' xmlns=""'), 'null');
  t.is(read('<n:null/>', ` xmlns:n="${tree}"`), 'null');
  t.is(read('<null/>', ''), `UnknownElement m.null: ${expected}, got <null>`);
});

test('W13: a tree that is nil is null', (t) => {
  const { input, problems } = readXml(compiled, 'put', '<Body><m i:nil="true"/></Body>');
  t.deepEqual(problems, []);
  t.is(operationOf(compiled, 'put').jsonOf(input), '{"Body":{"m":null}}');
});

test('forbidden characters are read only in strings', (t) => {
  for (const name of ['number', 'boolean'])
    t.throws(() => read(`<${name}>&#xB;</${name}>`), { instanceOf: XmlError });
});

test('W13: a nil item after the positions of a tuple is null', (t) => {
  const tuple = memberOf({ type: 'array', prefixItems: [{ type: 'integer' }], items: {} }, { json: 'tree' });
  t.is(
    tuple.read('<Item1>1</Item1><Items><Json i:nil="true"/><Json><null xmlns=""/></Json></Items>'),
    '[1,null,null]',
  );
});

test('JSON callers send any value instead of a tree', (t) => {
  t.deepEqual(readJson(compiled, 'put', '{"Body":{"m":{"a":[1,"1",null]}}}').problems, []);
});

for (const [json, becomes] of [
  ['{}', '<map></map>'],
  ['{ }', '<map></map>'],
  ['[]', '<array></array>'],
  ['[ ]', '<array></array>'],
  ['""', '<string></string>'],
  ['"a"', '<string>a</string>'],
  ['"\\"<&\\\\"', '<string>"&lt;&amp;\\</string>'],
  ['1.50e3', '<number>1.50e3</number>'],
  ['-1', '<number>-1</number>'],
  ['true', '<boolean>true</boolean>'],
  ['false', '<boolean>false</boolean>'],
  ['[null]', '<array><null/></array>'],
  ['[1,true,null]', '<array><number>1</number><boolean>true</boolean><null/></array>'],
  ['[\t1\n,\r2 ]', '<array><number>1</number><number>2</number></array>'],
  ['[[1],[]]', '<array><array><number>1</number></array><array></array></array>'],
  ['{"a":1}', '<map><number key="a">1</number></map>'],
  [
    '{ "a" : null , "b":{"a":1},"a":2}',
    '<map><null key="a"/><map key="b"><number key="a">1</number></map><number key="a">2</number></map>',
  ],
  ['{"\\"":"]","}":"{,"}', '<map><string key="&quot;">]</string><string key="}">{,</string></map>'],
  ['{"<&>\\u00e9":1}', '<map><number key="&lt;&amp;&gt;é">1</number></map>'],
  ['{"\\t\\n\\r":1}', '<map><number key="&#9;&#10;&#13;">1</number></map>'],
  ['{"\\u0000":1}', '<map><number key="\\u0000" escaped-key="true">1</number></map>'],
  ['["\\b\\n"]', '<array><string escaped="true">\\b\\n</string></array>'],
  ['"\\ud800\\""', '<string escaped="true">\\ud800\\"</string>'],
  ['"\\uD83D\\uDE00"', '<string>😀</string>'],
  ['"\uFFFF\uFFFE<"', '<string escaped="true">\\uffff\\ufffe&lt;</string>'],
  ['{"\uFFFF":1}', '<map><number key="\\uffff" escaped-key="true">1</number></map>'],
] as const)
  test(`JSON as a tree of elements of ${json}`, (t) => t.is(written(json), becomes));

test('only the outermost element of a tree has its namespace; a null is nil or absent', (t) => {
  const replyOf = (json: string) => writeReply(compiled, 'put', json).xml;
  t.regex(
    replyOf('{"m":[{"a":1}]}'),
    new RegExp(`<m><array xmlns="${tree}"><map><number key="a">1</number></map></array></m>`),
  );
  t.regex(replyOf('{"m": "a"}'), new RegExp(`<m><string xmlns="${tree}">a</string></m>`));
  t.regex(replyOf('{"m": null}'), /<m i:nil="true"\/>/);
});
