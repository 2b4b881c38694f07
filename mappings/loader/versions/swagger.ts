// Converts Swagger 2.0 to OpenAPI 3.0, because the readers of operations and schemas support only OpenAPI 3. Features
// without an equivalent in 3.0 become values that those readers reject, with the original pointer.
import { withoutEndSlashes } from '../../http-mapping/paths.ts';
import type { Allowance } from '../document/allowance.ts';
import { pointerSegment, type Report, unescapedSegment } from '../document/error.ts';
import { childOf, define, isNode, memberOf, type Node, textOf, textsOf } from '../document/node.ts';
import { decoded } from '../document/other-files.ts';
import { isUnresolved, type Located, References } from '../document/references.ts';
import { Places } from './places.ts';

/** A document converted to OpenAPI 3. */
export interface Converted {
  readonly document: Node;
  readonly places: Places;
}

type Made = Record<string, unknown>;

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const json = 'application/json';
const urlencoded = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data';

/** True for a document of Swagger 2.0. */
export function isSwagger(root: unknown): root is Node {
  return isNode(root) && /^2(?:\.0)?$/.test(String(root.swagger));
}

/**
 * Converts a Swagger document to OpenAPI 3.0. Unresolved references of parameters, responses and paths are reported.
 * Throws OverLimit.
 */
export function convertSwagger(root: Node, report: Report, allowance: Allowance): Converted {
  return new Conversion(root, report, allowance).convert();
}

class Conversion {
  readonly #root: Node;
  readonly #allowance: Allowance;
  readonly #references: References;
  readonly #places = new Places();
  /** References with targets that may move during the conversion. */
  readonly #refs: Made[] = [];
  /** Converted schemas. A schema may be used several times and contain itself. */
  readonly #schemas = new Map<unknown, unknown>();

  constructor(root: Node, report: Report, allowance: Allowance) {
    this.#root = root;
    this.#allowance = allowance;
    const elsewhere = (pointer: string, message: string): void =>
      report(pointer, `${message}; in Swagger 2.0 only schemas may be in other files`);
    this.#references = new References(root, elsewhere, undefined, allowance);
  }

  convert(): Converted {
    const {
      swagger: _,
      host: _h,
      basePath: _b,
      schemes: _s,
      consumes: _c,
      produces: _p,
      ...others
    } = this.#root;
    const { definitions, parameters, responses, securityDefinitions, paths, ...kept } = others;
    const servers = serversOf(this.#root);
    const document: Made = {
      openapi: '3.0.3',
      ...kept,
      ...(servers.length === 0 ? {} : { servers }),
      paths: isNode(paths) ? this.#each(paths, '/paths', (item, at) => this.#pathItem(item, at)) : paths,
      components: {
        schemas: this.#components(definitions, 'schemas', '/definitions', (one, at) => this.#schema(one, at)),
        parameters: this.#components(parameters, 'parameters', '/parameters', (one, at) =>
          isBody(one) ? undefined : this.#parameter(one, at, `/components${at}`),
        ),
        responses: this.#components(responses, 'responses', '/responses', (one, at) =>
          this.#response(one, at, `/components${at}`, this.#root.produces),
        ),
        requestBodies: this.#requestBodies(parameters),
        securitySchemes: this.#components(
          securityDefinitions,
          'securitySchemes',
          '/securityDefinitions',
          securityScheme,
        ),
      },
    };
    for (const ref of this.#refs) ref.$ref = this.#targetOf(String(ref.$ref));
    return { document, places: this.#places };
  }

  #components(
    from: unknown,
    name: string,
    original: string,
    convert: (one: unknown, at: string) => unknown,
  ): Made {
    this.#places.note(`/components/${name}`, original);
    return isNode(from) ? this.#each(from, original, convert) : {};
  }

  /** Converts body parameters that several operations may use, with the document's default media types. */
  #requestBodies(parameters: unknown): Made {
    if (!isNode(parameters)) return {};
    return this.#each(parameters, '/parameters', (one, at) => {
      if (!isNode(one) || one.in !== 'body') return undefined;
      const converted = `/components/requestBodies${at.slice('/parameters'.length)}`;
      return this.#body({ node: one, pointer: at }, converted, this.#root.consumes);
    });
  }

  /** Converts each member of an object. Undefined results are left out; extensions are unchanged. */
  #each(from: Node, pointer: string, convert: (one: unknown, at: string) => unknown): Made {
    this.#allowance.step(pointer);
    return Object.fromEntries(
      Object.entries(from).flatMap(([key, value]) => {
        if (key.startsWith('x-') && !isNode(value)) return [[key, value]];
        const made = convert(value, pointer + pointerSegment(key));
        return made === undefined ? [] : [[key, made]];
      }),
    );
  }

  #pathItem(stated: unknown, pointer: string): unknown {
    if (!isNode(stated)) return stated;
    if (typeof stated.$ref === 'string')
      return this.#resolved({ node: stated, pointer }) && this.#reference(stated);
    const shared = listed(stated.parameters, `${pointer}/parameters`);
    const { inputs, bodies } = this.#divided(shared);
    const item: Made = { ...stated };
    if (Array.isArray(stated.parameters)) item.parameters = this.#inputs(inputs, `${pointer}/parameters`);
    for (const method of methods) {
      const operation = stated[method];
      if (isNode(operation)) item[method] = this.#operation(operation, `${pointer}/${method}`, bodies);
    }
    return item;
  }

  /** @param bodies body parameters of the path, which apply to its operations */
  #operation(stated: Node, pointer: string, bodies: readonly Located[]): unknown {
    if (typeof stated.$ref === 'string') return this.#reference(stated);
    const { consumes = this.#root.consumes, produces = this.#root.produces, schemes: _, ...kept } = stated;
    const operation: Made = { ...kept };
    const own = listed(stated.parameters, `${pointer}/parameters`);
    const { inputs, bodies: ownBodies } = this.#divided(own);
    if (Array.isArray(stated.parameters))
      operation.parameters = this.#inputs(inputs, `${pointer}/parameters`);
    const body = this.#requestBody([...bodies, ...ownBodies], pointer, consumes);
    if (body !== undefined) operation.requestBody = body;
    if (isNode(stated.responses))
      operation.responses = this.#each(stated.responses, `${pointer}/responses`, (one, at) => {
        if (!isNode(one) || typeof one.$ref !== 'string') return this.#response(one, at, at, produces);
        const found = this.#resolved({ node: one, pointer: at });
        if (found === undefined) return undefined;
        return produces === this.#root.produces
          ? this.#reference(one)
          : this.#response(found.node, found.pointer, at, produces);
      });
    return operation;
  }

  /** Splits parameters into body parameters and others. Unresolved references are reported and left out. */
  #divided(stated: readonly Located[]): {
    readonly inputs: readonly Located[];
    readonly bodies: readonly Located[];
  } {
    const inputs: Located[] = [];
    const bodies: Located[] = [];
    for (const one of stated) {
      const found = this.#resolved(one);
      if (found !== undefined) (isBody(found.node) ? bodies : inputs).push(one);
    }
    return { inputs, bodies };
  }

  #inputs(stated: readonly Located[], list: string): unknown[] {
    return stated.map(({ node, pointer }, index) => {
      const converted = `${list}/${index}`;
      this.#places.note(converted, pointer);
      return isNode(node) && typeof node.$ref === 'string'
        ? this.#reference(node)
        : this.#parameter(node, pointer, converted);
    });
  }

  /** Converts a path, query or header parameter. Its type keywords become a schema in OpenAPI 3. */
  #parameter(stated: unknown, pointer: string, converted: string): unknown {
    if (!isNode(stated)) return stated;
    if (typeof stated.$ref === 'string') return this.#reference(stated);
    const { name, in: place, description, required, deprecated, collectionFormat, schema, ...rest } = stated;
    this.#places.note(converted, pointer);
    this.#places.note(`${converted}/schema`, schema === undefined ? pointer : `${pointer}/schema`);
    this.#places.note(`${converted}/style`, `${pointer}/collectionFormat`);
    return {
      ...defined({ name, in: place, description, required, deprecated }),
      ...extensionsOf(stated),
      schema: this.#schema(schema ?? rest, pointer),
      ...(rest.type === 'array' ? styleOf(place, collectionFormat, rest.items) : {}),
    };
  }

  #requestBody(bodies: readonly Located[], pointer: string, consumes: unknown): unknown {
    if (bodies.length === 0) return undefined;
    const at = `${pointer}/requestBody`;
    const found = bodies.map((one) => this.#resolved(one) ?? one);
    // a parameter of the operation overrides that of its path
    const whole = found.findLastIndex(({ node }) => isNode(node) && node.in === 'body');
    const body = found[whole];
    if (body === undefined) return this.#form(found, at, consumes);
    if (found.some(({ node }) => isNode(node) && node.in === 'formData')) {
      this.#places.note(at, body.pointer);
      return { content: {} }; // body and form parameters exclude each other, which the reader of bodies reports
    }
    const ref = bodies[whole]?.node;
    if (isNode(ref) && typeof ref.$ref === 'string' && /^\/parameters\/[^/]+$/.test(body.pointer)) {
      const name = body.pointer.slice('/parameters/'.length);
      if (consumes === this.#root.consumes)
        return { $ref: `#/components/requestBodies/${encodeURIComponent(name)}` };
    }
    return this.#body(body, at, consumes);
  }

  /** Converts the body of a request, with each of its media types. */
  #body({ node, pointer }: Located, converted: string, consumes: unknown): unknown {
    const { description, required, schema } = isNode(node) ? node : {};
    const made = schema === undefined ? undefined : this.#schema(schema, `${pointer}/schema`);
    this.#places.note(converted, pointer);
    return {
      ...defined({ description, required }),
      content: this.#content(typesOf(consumes), made, `${pointer}/schema`, converted),
    };
  }

  #content(types: readonly string[], schema: unknown, original: string, converted: string): Made {
    return Object.fromEntries(
      types.map((type) => {
        this.#places.note(`${converted}/content${pointerSegment(type)}/schema`, original);
        return [type, schema === undefined ? {} : { schema }];
      }),
    );
  }

  /**
   * Converts form parameters to the members of one body. If a name is repeated, the last parameter, which is the
   * operation's own, is used.
   */
  #form(stated: readonly Located[], converted: string, consumes: unknown): unknown {
    const properties = new Map<string, unknown>();
    const encoding = new Map<string, unknown>();
    const required = new Set<string>();
    const places = new Map<string, string>();
    let hasFiles = false;
    for (const { node, pointer } of stated) {
      const name = isNode(node) ? textOf(node.name) : undefined;
      if (!isNode(node) || name === undefined) continue;
      const {
        name: _,
        in: _in,
        required: isRequired,
        collectionFormat,
        allowEmptyValue: _a,
        ...schema
      } = node;
      hasFiles ||= schema.type === 'file';
      properties.set(name, this.#schema(schema, pointer));
      places.set(name, pointer);
      if (isRequired === true) required.add(name);
      if (schema.type === 'array') encoding.set(name, styleOf('query', collectionFormat, schema.items));
    }
    const known = textsOf(consumes)?.filter((type) => isForm(type) && !(hasFiles && !isMultipart(type)));
    const usual = hasFiles ? multipart : urlencoded;
    const types = known === undefined || known.length === 0 ? [usual] : known;
    const schema = {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.size === 0 ? {} : { required: [...required] }),
    };
    const [first] = stated;
    this.#places.note(converted, first?.pointer ?? converted);
    const content = types.map((type) => {
      const at = `${converted}/content${pointerSegment(type)}`;
      for (const [name, pointer] of places) {
        this.#places.note(`${at}/schema/properties${pointerSegment(name)}`, pointer);
        this.#places.note(`${at}/encoding${pointerSegment(name)}`, `${pointer}/collectionFormat`);
      }
      return [type, { schema, ...(encoding.size === 0 ? {} : { encoding: Object.fromEntries(encoding) }) }];
    });
    return { required: required.size > 0, content: Object.fromEntries(content) };
  }

  #response(stated: unknown, pointer: string, converted: string, produces: unknown): unknown {
    if (!isNode(stated)) return stated;
    if (typeof stated.$ref === 'string') return this.#reference(stated);
    const { schema, headers, examples, ...kept } = stated;
    this.#places.note(converted, pointer);
    const response: Made = { ...kept };
    if (isNode(headers))
      response.headers = this.#each(headers, `${pointer}/headers`, (header, at) => {
        if (!isNode(header)) return header;
        this.#places.note(`${converted}${at.slice(pointer.length)}/schema`, at);
        const { description, collectionFormat, ...rest } = header;
        const style = rest.type === 'array' ? styleOf('header', collectionFormat, rest.items) : {};
        return { ...defined({ description }), schema: this.#schema(rest, at), ...style };
      });
    if (schema === undefined) return response;
    const isFile = isNode(schema) && schema.type === 'file';
    const made = this.#schema(schema, `${pointer}/schema`);
    // A file response is not converted. It is binary if the document states no media type, or only JSON.
    const stated_ = textsOf(produces)?.filter((type) => !isFile || !/[/+]json\b/i.test(type)) ?? [];
    const types = isFile && stated_.length === 0 ? ['application/octet-stream'] : typesOf(stated_);
    const content = this.#content(types, made, `${pointer}/schema`, converted);
    for (const [type, media] of Object.entries(content))
      if (isNode(media) && isNode(examples) && Object.hasOwn(examples, type))
        content[type] = { ...media, example: examples[type] };
    response.content = content;
    return response;
  }

  /** Converts a schema, or the type keywords of a parameter or header. */
  #schema(stated: unknown, pointer: string): unknown {
    if (!isNode(stated)) return stated;
    const known = this.#schemas.get(stated);
    if (known !== undefined) return known;
    this.#allowance.step(pointer);
    const made: Made = {};
    this.#schemas.set(stated, made);
    for (const [key, value] of Object.entries(stated)) define(made, key, this.#keyword(key, value, pointer));
    if (typeof made.$ref === 'string') this.#refs.push(made);
    if (made['x-nullable'] === true && made.nullable === undefined) made.nullable = true;
    if (made.type === 'file') Object.assign(made, { type: 'string', format: 'binary' });
    return made;
  }

  #keyword(key: string, value: unknown, pointer: string): unknown {
    const at = pointer + pointerSegment(key);
    switch (key) {
      case 'properties':
        return isNode(value)
          ? Object.fromEntries(
              Object.entries(value).map(([name, one]) => [
                name,
                this.#schema(one, at + pointerSegment(name)),
              ]),
            )
          : value;
      case 'items':
      case 'additionalProperties':
      case 'not':
        return this.#schema(value, at);
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        return Array.isArray(value)
          ? value.map((one: unknown, index) => this.#schema(one, `${at}/${index}`))
          : value;
      case 'discriminator':
        return typeof value === 'string' ? { propertyName: value } : value;
      default:
        return value;
    }
  }

  /** Registers a reference. Its target is rewritten after the conversion. */
  #reference(stated: Node): Node {
    const ref: Made = { ...stated };
    this.#refs.push(ref);
    return ref;
  }

  #targetOf(text: string): string {
    if (!text.startsWith('#/')) return text;
    const segments = text.slice(2).split('/').map(decoded).map(unescapedSegment);
    const pointer = this.#places.convertedOf(segments.map(pointerSegment).join(''));
    return `#${pointer.split('/').map(encodeURIComponent).join('/')}`;
  }

  /** Resolves a reference. An unresolved reference is reported and gives undefined. */
  #resolved(stated: Located): Located | undefined {
    if (!isNode(stated.node) || typeof stated.node.$ref !== 'string') return stated;
    const found = this.#references.resolve(stated.node, stated.pointer);
    return isUnresolved(found) ? undefined : found;
  }
}

function isBody(parameter: unknown): boolean {
  return isNode(parameter) && (parameter.in === 'body' || parameter.in === 'formData');
}

function listed(list: unknown, pointer: string): readonly Located[] {
  if (!Array.isArray(list)) return [];
  return list.map((node: unknown, index) => ({ node, pointer: `${pointer}/${index}` }));
}

/** Returns the media types of a list; JSON if it is empty. */
function typesOf(stated: unknown): readonly string[] {
  const types = textsOf(stated) ?? [];
  return types.length === 0 ? [json] : types;
}

function isForm(type: string): boolean {
  return isMultipart(type) || type.toLowerCase().startsWith(urlencoded);
}

function isMultipart(type: string): boolean {
  return type.toLowerCase().startsWith(multipart);
}

/** Styles for `collectionFormat` (2.0, Parameter Object) that OpenAPI 3 supports. */
const styles: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  query: {
    csv: { style: 'form', explode: false },
    ssv: { style: 'spaceDelimited', explode: false },
    pipes: { style: 'pipeDelimited', explode: false },
    multi: { style: 'form', explode: true },
  },
  path: { csv: { style: 'simple', explode: false } },
  header: { csv: { style: 'simple', explode: false } },
};

/**
 * Returns the style of a list. If OpenAPI 3 has no equivalent, returns the original format, which the reader of styles
 * rejects.
 */
function styleOf(place: unknown, format: unknown = 'csv', items: unknown = {}): object {
  const inner = isNode(items) && items.type === 'array' ? (items.collectionFormat ?? 'csv') : undefined;
  if (inner !== undefined) return { style: `${String(inner)} in ${String(format)}` };
  const known = memberOf(childOf(styles, String(place)), String(format));
  return isNode(known) ? known : { style: format };
}

function serversOf({ host, basePath, schemes }: Node): object[] {
  const path = textOf(basePath) ?? '';
  const below = path === '' || path.startsWith('/') ? path : `/${path}`;
  if (typeof host !== 'string' || host === '') return below === '' ? [] : [{ url: below }];
  if (host.includes('://')) return [{ url: withoutEndSlashes(host) + below }];
  // Without schemes, the scheme of the document's own URL applies, which is unknown here.
  const [scheme = 'https', ...others] = (textsOf(schemes) ?? []).filter((one) => /^https?$/.test(one));
  return [scheme, ...others].map((one) => ({ url: `${one}://${host}${below}` }));
}

const flows: Readonly<Record<string, string>> = {
  implicit: 'implicit',
  password: 'password',
  application: 'clientCredentials',
  accessCode: 'authorizationCode',
};

function securityScheme(stated: unknown): unknown {
  if (!isNode(stated)) return stated;
  const { type, description } = stated;
  if (type === 'basic') return { ...defined({ description }), type: 'http', scheme: 'basic' };
  if (type !== 'oauth2') return stated;
  const { flow, authorizationUrl, tokenUrl, scopes = {} } = stated;
  const name = memberOf(flows, String(flow)) ?? 'implicit';
  return {
    ...defined({ description }),
    type,
    flows: { [String(name)]: { ...defined({ authorizationUrl, tokenUrl }), scopes } },
  };
}

function extensionsOf(node: Node): Node {
  return Object.fromEntries(Object.entries(node).filter(([key]) => key.startsWith('x-')));
}

/** Removes undefined members. */
function defined(members: Node): Node {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
