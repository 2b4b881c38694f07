import test from 'ava';
import {
  type Codec,
  compileContract,
  createCodec,
  createGateway,
  defaultLimits,
  limitsWith,
  loadContract,
} from '../../gateway/index.ts';

// JavaScript programs can pass any value to the functions of the package.

const loaded = loadContract({ openapi: 'docs/tutorial/openapi.yaml', overlay: undefined });
const { contract } = loaded;
const compiled = compileContract(contract);
const codec = createCodec(compiled);
const { operation } = codec.xmlToJson(
  Buffer.from(
    '<lend xmlns="urn:CityLibrary"><Body><isbn>978-0-00-000000-2</isbn><reader>Z</reader></Body></lend>',
  ),
);

/** Calls a function with an argument of any type. */
const calling =
  (called: (...given: never[]) => unknown, ...given: readonly unknown[]): (() => unknown) =>
  () =>
    Reflect.apply(called, undefined, given);

/** Values that are wrong for every argument, with their description in messages. */
const wrong: readonly (readonly [value: unknown, got: string])[] = [
  [null, 'null'],
  [5, '5'],
  [true, 'true'],
  [Symbol('x'), 'a symbol'],
  [() => {}, 'a function'],
  [['x'], 'an array'],
];

/** Each argument: its name, a call with the wrong value, and the expectation in the message. */
const cases: readonly (readonly [name: string, call: (value: unknown) => () => unknown, expected: string])[] =
  [
    [
      'createCodec: contract',
      (value) => calling(createCodec, value),
      'a contract that compileContract returns',
    ],
    [
      'compileContract: contract',
      (value) => calling(compileContract, value),
      'the contract in the result of loadContract',
    ],
    [
      'compileContract: limits',
      (value) => calling(compileContract, contract, value),
      'all limits, as limitsWith returns them',
    ],
    [
      'loadContract: place',
      (value) => calling(loadContract, value),
      'the path of a folder, or an object with the path openapi',
    ],
    ['loadContract: openapi', (value) => calling(loadContract, { openapi: value }), 'the path of a document'],
    [
      'loadContract: overlay',
      (value) => calling(loadContract, { openapi: 'docs/tutorial/openapi.yaml', overlay: value }),
      'the path of a file',
    ],
    [
      'loadContract: limits',
      (value) => calling(loadContract, 'mappings/screening', value),
      'all limits, as limitsWith returns them',
    ],
    ['limitsWith: limits', (value) => calling(limitsWith, value), 'an object of limits'],
    ['xmlToJson: document', (value) => calling(codec.xmlToJson, value), 'bytes, such as a Buffer'],
    ['xmlToJson: contentType', (value) => calling(codec.xmlToJson, Buffer.from('<a/>'), value), 'a string'],
    ['jsonToXml: operation', (value) => calling(codec.jsonToXml, value, '{}'), 'a string'],
    [
      'jsonToXml: json',
      (value) => calling(codec.jsonToXml, operation, value),
      'JSON as bytes or as a string',
    ],
    ['jsonToXml: envelope', (value) => calling(codec.jsonToXml, operation, '{}', value), '1.1 or 1.2'],
    ['createGateway: options', (value) => calling(createGateway, value), 'the options of createGateway'],
  ];

for (const [what, call, expected] of cases)
  test(`${what}: refuses a value of a wrong type, and names the expected and the given type`, (t) => {
    const name = what.slice(what.indexOf(' ') + 1);
    for (const [value, got] of wrong)
      t.throws(call(value), {
        instanceOf: RangeError,
        message: `${name}: expected ${expected}, got ${got}`,
      });
  });

const options = { contract, upstream: 'http://127.0.0.1:1', publicUrl: 'http://localhost' };
const url = 'an http or https URL without credentials and query';

for (const [name, expected] of [
  ['contract', 'the contract in the result of loadContract'],
  ['mapping', 'the mapping of loadContract'],
  ['upstream', url],
  ['publicUrl', url],
  ['basePath', 'a string'],
  ['limits', 'an object of limits'],
  ['logger', 'an object with the functions info, warn and error'],
] as const)
  test(`createGateway: ${name}: refuses a value of a wrong type, and names both types`, (t) => {
    for (const [value, got] of wrong) {
      if (name === 'upstream' && typeof value === 'function') continue; // a function is valid if it works like fetch
      t.throws(calling(createGateway, { ...options, [name]: value }), {
        instanceOf: RangeError,
        message: `${name}: expected ${expected}, got ${got}`,
      });
    }
  });

for (const [given, message] of [
  [{ logMessages: 'yes' }, 'logMessages: expected a boolean, got "yes"'],
  [{ trustedProxies: '10.0.0.0/8' }, 'trustedProxies: expected an array of strings, got "10.0.0.0/8"'],
  [{ allowedHosts: ['a', 5] }, 'allowedHosts[1]: expected a string, got 5'],
  [{ logger: { info: () => {}, warn: () => {} } }, 'logger.error: expected a function, got undefined'],
  [
    { contract: loaded },
    'contract: expected the contract in the result of loadContract, got the result of loadContract',
  ],
  [
    { contract: compiled },
    'contract: expected the contract in the result of loadContract, got a compiled contract',
  ],
  [{ contract: undefined }, 'contract: expected the contract in the result of loadContract, got undefined'],
  [{ upstream: undefined }, `upstream: expected ${url}, got undefined`],
  [{ upstream: 'http://u:secret@h/?p=secret' }, `upstream: expected ${url}, got "http://h/"`],
] as const)
  test(`createGateway refuses an option: ${message}`, (t) => {
    t.throws(calling(createGateway, { ...options, ...given }), { instanceOf: RangeError, message });
  });

for (const [what, call, message] of [
  [
    'a contract that is not compiled',
    calling(createCodec, contract),
    'contract: expected a contract that compileContract returns, got a contract that is not compiled',
  ],
  [
    'the result of loadContract',
    calling(createCodec, loaded),
    'contract: expected a contract that compileContract returns, got the result of loadContract',
  ],
  [
    'nothing',
    calling(createCodec),
    'contract: expected a contract that compileContract returns, got undefined',
  ],
  [
    'a promise',
    calling(compileContract, Promise.resolve(contract)),
    'contract: expected the contract in the result of loadContract, got a promise',
  ],
  [
    'a compiled contract',
    calling(compileContract, compiled),
    'contract: expected the contract in the result of loadContract, got a compiled contract',
  ],
  [
    'some of the limits',
    calling(compileContract, contract, { jsonDepth: 5 }),
    'limits: expected all limits, as limitsWith returns them, got undefined for bodyBytes',
  ],
  [
    'a misspelt file',
    calling(loadContract, { openapi: 'docs/tutorial/openapi.yaml', overlai: 'soap.yaml' }),
    'overlai: expected an option of loadContract, got an unknown name. Did you mean overlay?',
  ],
  [
    'an empty path',
    calling(loadContract, ''),
    'place: expected the path of a folder, or an object with the path openapi, got ""',
  ],
  [
    'a text in place of bytes',
    calling(codec.xmlToJson, '<a/>'),
    'document: expected bytes, such as a Buffer, got "<a/>"',
  ],
  [
    'an unknown version',
    calling(codec.jsonToXml, operation, '{}', '1.0'),
    'envelope: expected 1.1 or 1.2, got "1.0"',
  ],
] as const)
  test(`the message about a wrong argument names its kind: ${what}`, (t) => {
    t.throws(call, { instanceOf: RangeError, message });
  });

test('right arguments are accepted, also with all limits and without an overlay', (t) => {
  const limits = limitsWith({ jsonDepth: 5 });
  const loadedWith = loadContract({ openapi: 'docs/tutorial/openapi.yaml' } as never, limits);
  const made: Codec = createCodec(compileContract(loadedWith.contract, limits));
  t.deepEqual(
    made.xmlToJson(
      new Uint8Array(
        Buffer.from(
          '<lend xmlns="urn:CityLibrary"><Body><isbn>978-0-00-000000-2</isbn><reader>Z</reader></Body></lend>',
        ),
      ),
    ),
    {
      operation: 'lend',
      json: '{"Body":{"isbn":"978-0-00-000000-2","reader":"Z"}}',
    },
  );
  t.notThrows(() => compileContract(contract, defaultLimits));
});
