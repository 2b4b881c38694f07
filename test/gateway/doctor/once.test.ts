import test from 'ava';
import { createDoctor } from '../../../gateway/doctor/explain.ts';
import { compileContract } from '../../../mappings/compile.ts';
import { buildContract } from '../../../mappings/loader/build-contract.ts';

// Each error is reported once, even if the doctor moves the element or reads the corrected message again.

const order = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    price: { type: 'number' },
    when: { type: 'string', format: 'date-time' },
    state: { type: 'string', enum: ['open', 'done'] },
  },
};
const { contract } = buildContract({
  openapi: {
    openapi: '3.0.3',
    info: { title: 'Shop', version: '1' },
    paths: {
      '/orders': {
        post: {
          operationId: 'createOrder',
          requestBody: { required: true, content: { 'application/json': { schema: order } } },
          responses: { 201: { description: 'ok' } },
        },
      },
    },
  },
  openapiName: 'openapi.yaml',
  overlay: undefined,
  overlayName: 'soap.yaml',
});
const doctor = createDoctor(compileContract(contract));

function errorsOf(body: string, version: string): readonly string[] {
  const text = `<s:Envelope xmlns:s="${version}">\n<s:Body>\n<createOrder xmlns="urn:Shop">\n${body}\n</createOrder>\n</s:Body>\n</s:Envelope>`;
  const { findings } = doctor.explain({ body: Buffer.from(text), headers: {} });
  return findings
    .filter(({ severity }) => severity === 'error')
    .map(({ at, message }) => `${at?.line}: ${message}`);
}

for (const version of [
  'http://schemas.xmlsoap.org/soap/envelope/',
  'http://www.w3.org/2003/05/soap-envelope',
])
  for (const [what, body, errors] of [
    [
      'a value of an element that is moved',
      '<Body>\n<state>later</state>\n<id>1</id>\n</Body>',
      ['5: <state>: expected one of open, done, got "later"'],
    ],
    [
      'two values in elements that are moved',
      '<Body>\n<state>later</state>\n<when>x</when>\n<id>1</id>\n</Body>',
      [
        '5: <state>: expected one of open, done, got "later"',
        '6: <when>: expected xs:dateTime, got "x"; xs:dateTime is 2026-01-31T12:00:00, with Z or +01:00 if the time zone matters',
      ],
    ],
    [
      'text in an element of several lines',
      '<Body\n>\n<id>1</id>\ntext\n</Body>',
      ['7: <Body> has text in it, and elements are expected: <id>, <price>, <when>, <state>'],
    ],
    [
      'text around the members of the operation',
      '<Body/>\ntext',
      ['5: <createOrder> has text in it, and elements are expected: <Body>'],
    ],
    [
      'an element that repeats',
      '<Body>\n<id>1</id>\n<id>2</id>\n</Body>',
      ['6: <id> occurs twice in <Body>: expected one'],
    ],
    [
      'an empty value that is required',
      '<Body xmlns:i="http://www.w3.org/2001/XMLSchema-instance"\ni:nil="true"/>',
      ['4: Body must not be empty'],
    ],
  ] as const)
    test(`${what} is one error in ${version}`, (t) => {
      t.deepEqual(errorsOf(body, version), errors);
    });
