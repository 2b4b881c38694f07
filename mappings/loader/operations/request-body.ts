import {
  type BodyPart,
  type FormMember,
  fileMembers,
  type RequestBody,
  type ScalarType,
  type TextCharset,
  type Type,
} from '../../contract/model.ts';
import { parseContentType } from '../../http-mapping/content-type.ts';
import { pointerSegment } from '../document/error.ts';
import { isBinary } from '../document/media-forms.ts';
import { childOf, isNode, memberOf, type Node, shown, textOf } from '../document/node.ts';
import { identifier, upperFirst } from '../names/names.ts';
import { examplesOf } from '../schema/documentation.ts';
import { kindOf } from '../schema/keywords.ts';
import { membersOf, type SchemaMember } from '../schema/members.ts';
import type { Ruling, TypedField, WrapperField } from '../schema/records.ts';
import { type Entry, follow, type OperationsSource, sharedTypeName } from './entries.ts';
import {
  isMergePatch,
  type JsonMedia,
  jsonMedia,
  type Media,
  mediaOf,
  preferred,
  schemaKey,
} from './media-types.ts';

/** A request body: the input fields that hold it, and its mapping. */
export interface ReadBody {
  readonly fields: readonly (WrapperField | TypedField)[];
  readonly body: RequestBody;
}

const none: ReadBody = { fields: [], body: { kind: 'none' } };

/** Element name of a body that cannot be the wrapper's children, in a dialect where bodies normally are. */
const bodyElement = 'Body';

/** @param others the inputs apart from the body */
export function readRequestBody(
  entry: Entry,
  others: readonly WrapperField[],
  source: OperationsSource,
): ReadBody {
  const { name, operation, pointer } = entry;
  if (operation.requestBody === undefined) return none;
  const found = follow({ node: operation.requestBody, pointer: `${pointer}/requestBody` }, source);
  if (found === undefined) return none;
  const all = mediaOf(found.node, found.pointer);
  source.references.allowance.step(pointer, all.length);
  const media =
    entry.mediaType === undefined
      ? preferred(all, ['json', 'lines', 'form', 'multipart', 'text', 'binary', 'stream'])
      : all.find(({ type, form }) => type === entry.mediaType && form !== undefined);
  if (media === undefined) {
    const types = all.map(({ type }) => type);
    source.report(
      `${found.pointer}/content`,
      `expected ${entry.mediaType ?? 'a media type'} that the gateway can send, got ${types.join(', ') || 'none'}`,
    );
    return none;
  }
  const { dialect } = source.overlay;
  const element = dialect.body === 'members' ? bodyElement : dialect.body.element;
  const required = isNode(found.node) && source.references.isTrue(found.node, 'required', found.pointer);
  const typeName = sharedTypeName(found.pointer, `${name}Body`, source.builder);
  const field = { json: element, required, typeName, around: found.node };
  if (media.form !== 'json') return readAs(media, field, source);
  const json = jsonMedia(media, entry.mediaType === undefined ? all : []);
  if (dialect.body === 'members') {
    const fields = memberFields(name, json.others, source);
    if (!fields.some((own) => others.some((other) => other.json === own.json)))
      return { fields, body: { kind: 'members', mediaType: json.others.type } };
  }
  return readJson(json, field, source);
}

type BodyField = Omit<WrapperField, 'schema' | 'pointer'>;

/** Reads a JSON body. Arrays may have a different media type from other values. */
function readJson(
  { arrays, others }: JsonMedia,
  { typeName, ...field }: BodyField,
  { builder, references }: OperationsSource,
): ReadBody {
  const { node: schema, pointer } = others.schema;
  const isOne = arrays === others || schemaKey(arrays, references) === schemaKey(others, references);
  const schemas = isOne ? [others.schema] : [others.schema, arrays.schema];
  const body = { kind: 'json', field: field.json, mediaType: others.type, arrays: arrays.type } as const;
  const place = { ...field, pointer, examples: others };
  if (isMergePatch(others)) return { fields: [{ ...place, type: builder.patchOf(schemas, typeName) }], body };
  if (isOne) return { fields: [{ ...place, schema, typeName }], body };
  return { fields: [{ ...place, type: builder.oneOf(schemas, typeName) }], body };
}

function readAs(media: Media, { typeName, ...inputs }: BodyField, source: OperationsSource): ReadBody {
  const { node: schema, pointer } = media.schema;
  const examples = media;
  const whole: WrapperField = { ...inputs, pointer, schema, typeName, examples };
  const ruledBy = { ...media.schema, of: 'values' } as const;
  const typed = (type: Type, ruling?: Ruling): TypedField[] => [
    { ...inputs, pointer, type, examples, ...(ruling && { ruledBy: ruling }) },
  ];
  const field = inputs.json;
  const mediaType = media.type;
  switch (media.form) {
    case 'form':
      return {
        fields: [whole],
        body: {
          kind: 'form',
          field,
          mediaType,
          members: formMembers(media, source),
          deepLists: source.overlay.settings.deepLists,
        },
      };
    case 'multipart': {
      const { parts, others, type } = readParts(media, typeName, source);
      const fields = type === undefined ? [whole] : typed(type, ruledBy);
      return { fields, body: { kind: 'multipart', field, mediaType, parts, others } };
    }
    case 'lines':
      return {
        fields: typed(linesType(media, typeName, source), linesSchema(media, source)),
        body: { kind: 'lines', field, mediaType },
      };
    case 'binary':
      return { fields: typed(rawTypes.binary), body: { kind: 'binary', field, mediaType } };
    default: {
      const charset = charsetOf(media, source);
      const found = source.references.objectAt(schema, pointer);
      const isText = found !== undefined && kindOf(found) === 'string';
      return {
        fields: typed(rawTypes.text, isText ? ruledBy : undefined),
        body: { kind: 'text', field, mediaType, charset },
      };
    }
  }
}

/** SOAP types of a raw request or response body. */
export const rawTypes = {
  text: { kind: 'scalar', scalar: 'string' },
  binary: { kind: 'scalar', scalar: 'base64Binary' },
} as const satisfies Record<string, ScalarType>;

/** Returns the array type of a sequence. */
export function linesType(media: Media, typeName: string, source: OperationsSource): Type {
  const { builder } = source;
  const schema = linesSchema(media, source);
  if (schema.of === 'values') return builder.oneOf([schema], typeName);
  return builder.arrayOf(builder.oneOf([schema], `${typeName}Item`));
}

/** Returns the schema of a sequence. An array schema describes the whole sequence, any other schema each value. */
function linesSchema({ schema, itemSchema }: Media, { references }: OperationsSource): Ruling {
  if (itemSchema !== undefined) return { ...itemSchema, of: 'items' };
  const found = references.objectAt(schema.node, schema.pointer);
  const isWhole = found !== undefined && kindOf(found) === 'array';
  return { ...schema, of: isWhole ? 'values' : 'items' };
}

const charsets: Readonly<Record<string, TextCharset>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'iso-8859-1': 'iso-8859-1',
  latin1: 'iso-8859-1',
  'us-ascii': 'us-ascii',
  ascii: 'us-ascii',
};

/** Returns the charset of a media type, by default UTF-8. An unsupported charset is reported. */
function charsetOf({ type, pointer }: Media, { report }: OperationsSource): TextCharset {
  const stated = parseContentType(type).charset || 'utf-8';
  const charset = charsets[stated.toLowerCase()];
  if (charset === undefined)
    report(pointer, `expected text in utf-8, iso-8859-1 or us-ascii, got ${shown(stated)}`);
  return charset ?? 'utf-8';
}

// --- forms -----------------------------------------------------------------------------------------

function formMembers(media: Media, source: OperationsSource): FormMember[] {
  const stated: FormMember[] = [];
  for (const [name, encoding] of Object.entries(encodingsOf(media))) {
    if (!isNode(encoding)) continue;
    const style = formStyle(encoding);
    if (style === undefined)
      source.report(
        `${media.pointer}/encoding${pointerSegment(name)}/style`,
        `expected form, spaceDelimited, pipeDelimited or deepObject, got ${shown(encoding.style)}`,
      );
    else if (style !== 'none')
      stated.push({
        name,
        style,
        explode: typeof encoding.explode === 'boolean' ? encoding.explode : style === 'form',
        allowReserved: encoding.allowReserved === true,
      });
  }
  return stated;
}

const jsonType = /[/+]json\b/i;

/** Returns the style that an encoding states; `none` if it states none. */
function formStyle(encoding: Node): FormMember['style'] | 'none' | undefined {
  const { style, explode, allowReserved, contentType } = encoding;
  if (style === 'form' || style === 'spaceDelimited' || style === 'pipeDelimited' || style === 'deepObject')
    return style;
  if (style !== undefined) return undefined;
  if (typeof explode === 'boolean' || allowReserved === true) return 'form';
  return typeof contentType === 'string' && jsonType.test(contentType) ? 'json' : 'none';
}

function encodingsOf(media: Media): Node {
  return isNode(media.node) ? childOf(media.node, 'encoding') : {};
}

// --- parts -----------------------------------------------------------------------------------------

interface Parts {
  readonly parts: readonly BodyPart[];
  /** Kind of parts that are not listed. */
  readonly others: BodyPart['kind'];
  /** Type of the body if some parts are files; otherwise undefined, and the schema determines it. */
  readonly type: Type | undefined;
}

function readParts(media: Media, typeName: string, source: OperationsSource): Parts {
  const { builder, references } = source;
  if (isUnconstrained(media.schema.node))
    return { parts: [], others: 'bytes', type: builder.mapOf(fileType(source)) };
  const found = membersOf([media.schema], references);
  if (found.kind === 'none') return { parts: [], others: 'text', type: undefined };
  const encodings = encodingsOf(media);
  const parts: BodyPart[] = [];
  const fields: (WrapperField | TypedField)[] = [];
  for (const member of found.members) {
    const contentType = statedType(memberOf(encodings, member.json));
    const kind = partKind(member, contentType, source);
    const form = kind === 'text' ? formOfList(member, media, source) : undefined;
    if (kind !== 'text' || contentType !== undefined || form !== undefined)
      parts.push({ name: member.json, kind: kind === 'files' ? 'file' : kind, contentType, ...form });
    if (kind === 'file' || kind === 'files' || kind === 'bytes') {
      const file = fileType(source);
      const type = kind === 'files' ? builder.arrayOf(file) : file;
      const { schema: around, ...place } = member;
      fields.push({
        ...place,
        around,
        type,
        ruledBy: { node: around, pointer: place.pointer, of: 'values' },
      });
    } else fields.push({ ...member, typeName: typeName + upperFirst(identifier(member.json)) });
  }
  const hasFiles = parts.some(({ kind }) => kind === 'file' || kind === 'bytes');
  return {
    parts,
    others: 'text',
    type: hasFiles ? builder.record(typeName, media.schema.pointer, fields) : undefined,
  };
}

/** Separators by `style` for a list in a single part. */
const separators = { form: ',', spaceDelimited: ' ', pipeDelimited: '|' } as const;

/**
 * Returns the serialization of a list or object according to the encoding's `style` (3.1, 4.8.15). A list in one part
 * has a separator; `deepObject` creates one part for each text inside. Undefined: each item is a part, and an object is
 * JSON.
 */
function formOfList(
  { json, schema, pointer }: SchemaMember,
  media: Media,
  { references, report, overlay }: OperationsSource,
): Pick<BodyPart, 'separator' | 'deep'> | undefined {
  const encoding = memberOf(encodingsOf(media), json);
  if (!isNode(encoding) || (encoding.style === undefined && encoding.explode === undefined)) return undefined;
  const found = references.objectAt(schema, pointer);
  if (found === undefined) return undefined;
  const { style = 'form', explode = style === 'form' } = encoding;
  if (style === 'deepObject') return { deep: overlay.settings.deepLists };
  if (found.items === undefined) return undefined;
  const separator = memberOf(separators, String(style));
  if (typeof separator !== 'string') {
    const at = `${media.pointer}/encoding${pointerSegment(json)}/style`;
    const expected = 'expected form, spaceDelimited, pipeDelimited or deepObject of a list in parts';
    report(at, `${expected}, got ${shown(style)}`);
    return undefined;
  }
  return explode === true ? undefined : { separator };
}

/** Returns the media type that an encoding states. With a list or range of types, the caller chooses. */
function statedType(encoding: unknown): string | undefined {
  const type = isNode(encoding) ? textOf(encoding.contentType) : undefined;
  return type === undefined || /[,*]/.test(type) ? undefined : type;
}

/**
 * Returns the kind of a part. A binary string, or a string with an encoding of a binary type, is a file. JSON requires
 * a JSON encoding. A part without a schema is bytes, as OpenAPI 3.1.1 defines (`application/octet-stream`).
 */
function partKind(
  { schema, pointer }: SchemaMember,
  contentType: string | undefined,
  { references }: OperationsSource,
): BodyPart['kind'] | 'files' {
  const node = references.objectAt(schema, pointer) ?? {};
  if (contentType !== undefined && jsonType.test(contentType)) return 'json';
  if (isFile(node, contentType)) return 'file';
  if (isUnconstrained(node) && contentType === undefined) return 'bytes';
  if (node.items === undefined) return 'text';
  const items = references.objectAt(node.items, `${pointer}/items`);
  return items !== undefined && isFile(items, contentType) ? 'files' : 'text';
}

/** Returns true for a schema with annotations only. */
function isUnconstrained(schema: unknown): boolean {
  return (
    isNode(schema) &&
    Object.keys(schema).every((key) => /^(?:title|description|default|examples?|x-.*)$/.test(key))
  );
}

function isFile(schema: Node, contentType: string | undefined): boolean {
  if (isBinary(schema)) return true;
  const mayBe = schema.type === 'string' || Object.keys(schema).length === 0;
  return mayBe && contentType !== undefined && !/^text\//i.test(contentType);
}

/** Returns the record type of a file in SOAP. */
function fileType({ builder }: OperationsSource): Type {
  const pointer = '/components/schemas/FilePart';
  return builder.record('FilePart', pointer, [
    { json: fileMembers.content, pointer, required: true, type: rawTypes.binary },
    { json: fileMembers.fileName, pointer, required: false, type: rawTypes.text },
    { json: fileMembers.contentType, pointer, required: false, type: rawTypes.text },
  ]);
}

/** Returns the members of a body as children of the wrapper. Inline types of the body are named after the wrapper. */
export function memberFields(
  owner: string,
  media: Media,
  { references, report }: OperationsSource,
): WrapperField[] {
  const found = membersOf([media.schema], references);
  if (found.kind === 'none') {
    report(found.pointer, `expected an object whose members become the wrapper's children: ${found.why}`);
    return [];
  }
  const { node, pointer } = media;
  const whole = isNode(node) ? examplesOf({ node, pointer }, references).filter(isNode) : [];
  return found.members.map((member) => {
    const examples = whole.flatMap((each) =>
      Object.hasOwn(each, member.json) ? [{ node: { example: each[member.json] }, pointer }] : [],
    );
    return {
      ...member,
      ...(examples[0] && { examples: examples[0] }),
      typeName: owner + upperFirst(identifier(member.json)),
    };
  });
}
