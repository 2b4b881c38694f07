import { count, flag, keyword, list, record, text, type ValueOf } from './setting.ts';

/** Overlay keys of one operation of an OpenAPI document, and the rules for operation names. */

const pattern = (description: string) =>
  text(description, 'a pattern of at most 200 characters', /^[\s\S]{1,200}$/);

/** A rule of the key `operationNames`. */
export const operationNameRule = record('Rule for the names of the operations that match all its patterns.', {
  operationId: pattern('RE2 pattern for the whole operationId. Its groups are `{1}`, `{2}`, … in `name`.'),
  path: pattern('RE2 pattern for the whole path. Its groups are `{path1}`, `{path2}`, … in `name`.'),
  tag: pattern('RE2 pattern for the first tag. Its groups are `{tag1}`, `{tag2}`, … in `name`.'),
  method: text('HTTP method.', 'a method such as GET', /^[A-Za-z]+$/),
  name: text(
    'Operation name: text and placeholders such as `{1}`, `{path1}`, `{operationId}`, `{tag}` and `{method}`, in PascalCase. `{1:singular}` is the singular.',
    'a name such as {2}{1:singular}',
    /^(?:[A-Za-z0-9_]|\{(?:operationId|path[1-9]?|tag[1-9]?|method|[1-9])(?::singular)?\})+$/,
  ),
});

/** The key `readOnly` of an operation. */
export const readOnly = flag(
  'The call changes nothing upstream, so the gateway may repeat it once if the upstream did not answer.',
);

/** Maximum `timeoutMs` of an operation, in ms. */
export const maxTimeoutMs = 3_600_000;

/** The key `timeoutMs` of an operation. */
export const timeoutMs = count(
  "Time from the start of the upstream call to the operation's reply, in ms. It replaces the limits `totalMs` and `upstreamFirstByteMs`.",
  'a time in ms',
  1,
  maxTimeoutMs,
);

/** The key `hide` of an operation. */
export const hide = flag('Do not serve the operation.');

/** The keys of one operation under `operations`. */
export const operation = record('Settings of one operation.', {
  readOnly,
  timeoutMs,
  stream: flag(
    'Stream a request body of bytes to the upstream if it arrives as an MTOM or SwA part, up to the limit `streamBytes`.',
  ),
  name: text('Name of the operation for callers.', 'an identifier', /^[A-Za-z_][A-Za-z0-9_]*$/),
  hide,
  upstream: record('Upstream call, if it differs from the document.', {
    method: keyword('HTTP method.', 'GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'QUERY'),
    path: text(
      "Path below the upstream's address, with `{name}` for each path parameter of the document.",
      'a path such as /parcels/{number}',
      /^\/[^\s?#]*$/,
    ),
  }),
  mediaType: text(
    'Media type of the request body, if the document has several.',
    'a media type of the request body',
  ),
  accept: text('Media type of the replies, if the document has several.', 'a media type of a reply'),
  as: list(
    'Media types in which the operation is served again, each as a separate operation such as FindParcel_as_xml.',
    'media types of the request body or the replies',
    text('Media type.', 'a media type', /^[^\s/]+\/\S/),
  ),
  spansSegments: list(
    'Path parameters whose slashes are sent as slashes of the path.',
    'names of path parameters',
    text('Name of a path parameter.'),
  ),
});

/** The settings of one operation of an OpenAPI document. A key is undefined if the file lacks it. */
export type OperationValues = ValueOf<typeof operation>;
