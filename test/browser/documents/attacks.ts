/** Texts that try to be interpreted as markup or code, each with a trap. */
export const attacks = [
  '<script>trap("script")</script>',
  '<img src=x onerror=\'trap("onerror")\'>',
  '"><svg onload=\'trap("svg")\'>',
  '[click](javascript:trap("link"))',
  '[click](  javascript:trap(1))',
  '![x](https://evil.example/x.png)',
  '</title></style></textarea></template><script>trap("closing")</script>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an attack on templates
  '{{constructor.constructor("trap(1)")()}} ${trap(1)} <%= trap(1) %>',
  `${'long'.repeat(400)}`,
  '\u202Egnp.tfel-ot-thgir\u2066\u2069\u200F',
  '\u05D0\u05D1\u05D2 (\u05D3) 123',
  '<style>body{display:none}</style><base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">',
] as const;

const everything = attacks.join('\n\n');

/** An OpenAPI document with attacks in every text, and in names as far as names allow. */
export const hostileDocument: string = JSON.stringify({
  openapi: '3.1.0',
  info: {
    title: attacks[0],
    version: attacks[1],
    description: everything,
    contact: { url: 'javascript:trap(1)' },
  },
  servers: [{ url: '/' }],
  tags: [{ name: attacks[2], description: everything }],
  paths: {
    '/things/{id}': {
      post: {
        operationId: 'hostile<script>trap("id")</script>',
        summary: attacks[1],
        description: everything,
        tags: attacks.slice(0, 6),
        externalDocs: { url: 'javascript:trap(1)' },
        parameters: [
          {
            name: 'id',
            in: 'path',
            required: true,
            description: everything,
            schema: { type: 'string', default: attacks[0], example: attacks[1] },
          },
        ],
        requestBody: {
          description: everything,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
        },
        responses: {
          200: {
            description: everything,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        description: everything,
        required: ['kind'],
        properties: {
          kind: { type: 'string', enum: [...attacks.slice(0, 9)], description: everything },
          '"><img src=x onerror=trap(1)>': { type: 'string', description: everything, example: attacks[2] },
          [`long${'Name'.repeat(60)}`]: {
            type: 'array',
            items: { type: 'string', example: attacks[0] },
            deprecated: true,
          },
          next: { $ref: '#/components/schemas/Thing' },
          either: {
            oneOf: [
              { type: 'string', title: attacks[0] },
              { type: 'integer' },
              { $ref: '#/components/schemas/Thing' },
            ],
          },
        },
      },
    },
  },
});

/** Returns a document of `count` operations with tags, summaries and parameters. */
export function largeDocument(count: number): string {
  const paths: Record<string, object> = {};
  for (let at = 0; at < count; at++) {
    const tag = `group-${at % 40}`;
    paths[`/${tag}/thing${at}/{id}`] = {
      get: {
        operationId: `${tag}/get-thing-number-${at}`,
        summary: `Get thing ${at} of a group`,
        description: `Gets the thing **${at}**, with \`id\`, as [the manual](https://example.com) has it.`,
        tags: [tag],
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
          {
            name: 'per_page',
            in: 'query',
            description: 'Results per page',
            schema: { type: 'integer', default: 30 },
          },
        ],
        responses: {
          200: {
            description: 'OK',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { [`member_of_${at}`]: { type: 'string' }, node_id: { type: 'string' } },
                },
              },
            },
          },
        },
      },
    };
  }
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Large', version: '1' },
    servers: [{ url: '/' }],
    paths,
  });
}
