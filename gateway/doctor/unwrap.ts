import { sentence } from '../../mappings/contract/reason.ts';
import { parseContentType } from '../../mappings/http-mapping/content-type.ts';
import { resolveReferences } from '../../mappings/xml/characters.ts';
import { decodeXml } from '../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../mappings/xml/error.ts';
import { Draft, offsetOf } from './draft.ts';
import type { Findings } from './findings.ts';

/** Finds the XML in the received bytes: charsets, wrappers, and content that is not XML. */

/**
 * Returns the message's text as a draft, without the wrappers around the XML, which are reported. If there is no XML,
 * it reports the actual content and returns undefined.
 */
export function unwrap(body: Buffer, contentType: string | undefined, findings: Findings): Draft | undefined {
  const kind = binaryKind(body);
  if (kind !== undefined) {
    findings.noteHeader('error', kind);
    return undefined;
  }
  const draft = new Draft(decode(body, contentType, findings), findings);
  // Each layer is removed once, so the loop ends.
  for (const layer of layers) layer(draft, contentType);
  const head = draft.text.trimStart().slice(0, 400);
  if (/^<(?:!doctype\s+html|html|head|body)\b/i.test(head)) {
    draft.error(0, 'this is an HTML page, not a SOAP message: probably a proxy, login or error page');
    return undefined;
  }
  if (/^<[!?A-Za-z_]/.test(head)) return draft;
  draft.error(0, otherKind(head));
  return undefined;
}

/** Explains bytes that are not text; undefined for text. */
function binaryKind(body: Buffer): string | undefined {
  if (body.length === 0)
    return 'the message is empty: the client sent no body, or a redirect turned its POST into a GET';
  if (body[0] === 0x1f && body[1] === 0x8b)
    return 'the body is compressed (gzip): send Content-Encoding: gzip, or send it uncompressed';
  if (((body[0] ?? 0) & 0xfc) === 0x0c && body.length >= 12 && body[2] === 0 && body[3] === 0)
    return 'the body is a DIME message (.NET WSE, SOAP Toolkit): DIME is obsolete and not supported. Send MTOM, or base64 in the element';
  if (body.subarray(0, 4).toString('latin1') === 'PK\x03\x04')
    return 'the body is a ZIP file, not a SOAP message';
  if (body.subarray(0, 4).toString('latin1') === '%PDF')
    return 'the body is a PDF file, not a SOAP message: send files as base64 in an element, or as an MTOM part';
  return undefined;
}

/** Explains text that is not XML. */
function otherKind(head: string): string {
  if (head === '') return 'the message contains only white space';
  if (/^[[{]/.test(head))
    return 'this is JSON, but the address is a SOAP endpoint: send an envelope, or send the JSON to /json/reply/{operation}';
  if (/^[\w.%-]+=/.test(head))
    return 'this is a form (name=value), not a SOAP message: the client posts with application/x-www-form-urlencoded';
  if (/^HTTP\/\d/.test(head)) return 'this is a response of a server, not a request';
  return 'this is text, not XML: a SOAP message begins with < of its envelope';
}

// --- charsets ----------------------------------------------------------------------------------------

/** Decodes the bytes. If they do not match the stated charset, it uses the most likely one and adds a finding. */
function decode(body: Buffer, contentType: string | undefined, findings: Findings): string {
  const { charset } = contentType === undefined ? { charset: undefined } : parseContentType(contentType);
  try {
    const text = decodeXml(body, charset);
    noteDoubtful(body, text, charset, findings);
    return text;
  } catch (error) {
    if (!(error instanceof XmlError || error instanceof UnsupportedCharset)) throw error;
    const text = likeliest(body);
    const draft = new Draft(text, findings);
    const at = error instanceof XmlError ? offsetOf(text, error) : 0;
    draft.error(at, charsetWords(body, error, charset), 'the message in UTF-8, stated as that');
    return text;
  }
}

function charsetWords(
  body: Buffer,
  error: XmlError | UnsupportedCharset,
  charset: string | undefined,
): string {
  if (error instanceof UnsupportedCharset)
    return `the gateway does not support this charset. Send utf-8: ${error.message}`;
  if (error.mistake === 'encoding' && error.subject === 'utf-8')
    return 'the text should be UTF-8, but these bytes are not: it was written as ISO-8859-1 or windows-1252, or a string was sent without encoding';
  if (error.subject === 'us-ascii')
    return 'the charset is us-ascii, but the text has other characters: text/xml without a charset is often treated as us-ascii';
  const wide = isWideText(body) ? 'UTF-16' : 'one byte per character';
  const stated =
    charset === undefined ? 'the XML declaration or the byte order mark' : 'the charset of Content-Type';
  return `${stated} does not match the bytes, which look like ${wide}: the text was encoded again after its declaration was written (${sentence({ ...error.reason, where: undefined })})`;
}

function isWideText(body: Buffer): boolean {
  return body.subarray(0, 64).includes(0);
}

function likeliest(body: Buffer): string {
  if (isWideText(body)) {
    const isBig = body[0] === 0 || body[0] === 0xfe;
    const even = body.subarray(0, body.length - (body.length % 2));
    return (isBig ? Buffer.from(even).swap16() : even)
      .toString('utf16le')
      .replace(/^\ufeff/, '')
      .toWellFormed();
  }
  const text = body.toString('utf8');
  const fair = text.includes('\ufffd') ? new TextDecoder('windows-1252').decode(body) : text;
  return fair.replace(/^\ufeff/, '');
}

/** Reports bytes that were decoded without an error, but probably to wrong characters. */
function noteDoubtful(body: Buffer, text: string, charset: string | undefined, findings: Findings): void {
  const doubled = /Ã[\u0080-\u00bf]|â‚¬|Ã[ŸƒŠŒŽš]/.exec(text);
  if (doubled !== null)
    new Draft(text, findings).note(
      doubled.index,
      'warning',
      'characters look as if UTF-8 was read as ISO-8859-1 before it was sent (Ã¼ for ü): the text was encoded twice',
    );
  const stated = charset?.toLowerCase();
  const declared = /^<\?xml[^>]*encoding=["']([\w-]+)/.exec(text)?.[1]?.toLowerCase();
  if (stated === undefined || declared === undefined || stated === declared) return;
  if (body.every((byte) => byte < 0x80)) return;
  findings.noteHeader(
    'warning',
    `Content-Type says charset ${stated.slice(0, 40)} but the XML declaration says ${declared}: Content-Type takes precedence (RFC 7303), so non-ASCII characters may be wrong`,
    'utf-8 in both',
  );
}

// --- layers ------------------------------------------------------------------------------------------

type Layer = (draft: Draft, contentType: string | undefined) => void;

/** Removes the head of a copied HTTP request. */
const httpHead: Layer = (draft) => {
  const { text } = draft;
  if (!/^(?:POST|PUT|GET) \S/.test(text) && !/^[A-Za-z][A-Za-z-]+: /.test(text)) return;
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null || end.index > text.indexOf('<')) return;
  draft.error(
    0,
    'HTTP headers are in the body: the client writes its own headers, or a whole request was pasted',
    'left out',
  );
  draft.replace(0, end.index + end[0].length, '');
};

/** Extracts the envelope from a multipart message. */
const mimePart: Layer = (draft, contentType) => {
  const { text } = draft;
  const boundary = /^\s*--([^\r\n]+)\r?\n/.exec(text);
  if (boundary === null) return;
  const isDeclared = /^\s*multipart\/related/i.test(contentType ?? '');
  const headEnd = /\r?\n\r?\n/.exec(text);
  const from = headEnd === null ? -1 : text.indexOf('<', headEnd.index);
  if (from < 0 || headEnd === null) return;
  const end = text.indexOf(`--${(boundary[1] ?? '').trim().replace(/--$/, '')}`, from);
  if (!isDeclared)
    draft.error(
      0,
      'the body is a MIME multipart message: expected Content-Type multipart/related with its boundary and start',
      'only the envelope; put values of other parts as base64 in their elements',
    );
  if (end > from) draft.replace(end, text.length, '');
  draft.replace(0, headEnd.index + headEnd[0].length, '');
};

/** Decodes `xml=%3Csoap…`, as sent by browser forms and some HTTP libraries. */
const formField: Layer = (draft) => {
  const { text } = draft;
  const from = text.slice(0, 100).search(/%3C/i);
  if (from < 0 || !/^[\w.-]*=?$/.test(text.slice(0, from))) return;
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.slice(from).replaceAll('+', ' '));
  } catch (error) {
    if (error instanceof URIError) return;
    throw error;
  }
  draft.error(
    0,
    'the envelope is encoded as a field of a form (%3C for <): the HTTP client treats the body as form data. Send the bytes unchanged',
    'the unencoded envelope',
  );
  draft.replace(0, text.length, decoded);
};

/** Decodes an envelope in a JSON string. */
const jsonString: Layer = (draft) => {
  const { text } = draft;
  if (!/^\s*"\s*</.test(text)) return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return;
    throw error;
  }
  if (typeof value !== 'string') return;
  draft.error(
    0,
    'the envelope is a string of JSON, in quotes and with \\" in it: the HTTP client serialized the text again',
    'the unencoded envelope',
  );
  draft.replace(0, text.length, value);
};

/** Decodes an envelope in base64. */
const base64Text: Layer = (draft) => {
  const { text } = draft;
  if (!/^\s*(?:PD94|PHM6|PHNvYX|PFNPQV|PEVu)/.test(text) || /[^A-Za-z0-9+/=\s]/.test(text)) return;
  draft.error(0, 'the whole envelope is base64: send it unencoded', 'the unencoded envelope');
  draft.replace(0, text.length, Buffer.from(text, 'base64').toString('utf8'));
};

/** Removes a second byte order mark, whitespace before the declaration, or other text before the first tag. */
const leadingText: Layer = (draft) => {
  const { text } = draft;
  const from = text.indexOf('<');
  if (from <= 0 || /^["[{]/.test(text.trimStart())) return;
  const before = text.slice(0, from);
  if (before.includes('\ufeff') || /^ï»¿/.test(before)) {
    const what = before.startsWith('ï')
      ? 'a byte order mark was encoded again (ï»¿)'
      : 'a second byte order mark';
    draft.error(
      0,
      `${what} is before the XML: files were joined, or text that had a byte order mark got another one`,
      'left out',
    );
  } else if (before.trim() === '') {
    if (!text.startsWith('<?xml', from)) return;
    draft.error(0, 'white space before <?xml: expected <?xml at the first character', 'left out');
  } else if (from < 200 && /^<(?:\?xml|[\w-]+:?Envelope)/i.test(text.slice(from)))
    draft.error(0, 'text before the XML', 'left out');
  else return;
  draft.replace(0, from, '');
};

/** Unescapes `&lt;soap:Envelope …`, an envelope that was escaped as a whole. */
const escapedDocument: Layer = (draft) => {
  const { text } = draft;
  if (!/^\s*&(?:amp;)?lt;[?A-Za-z]/.test(text)) return;
  const once = resolveReferences(text);
  const plain = once.trimStart().startsWith('&lt;') ? resolveReferences(once) : once;
  draft.error(
    0,
    'the whole envelope is escaped (&lt; for <): a program that expects text wrote it into XML or HTML',
    'the unencoded envelope',
  );
  draft.replace(0, text.length, plain.trimStart());
};

/**
 * Extracts an envelope from a CDATA section, either at the top level or as the only text of an element like `<string>`.
 */
const cdataDocument: Layer = (draft) => {
  const { text } = draft;
  const root = text.startsWith('<?xml') ? text.indexOf('?>') + 2 : 0;
  const tag = /^\s*<(\w+)(?:\s[^<>]*)?>/.exec(text.slice(root));
  const inside = tag === null ? text.slice(root).trimStart() : text.slice(root + tag[0].length).trimStart();
  const isEscaped = inside.startsWith('&lt;');
  if (!isEscaped && !inside.startsWith('<![CDATA[')) return;
  const from = isEscaped ? 0 : 9;
  const end = isEscaped ? inside.indexOf('<', from) : inside.indexOf(']]>', from);
  const inner = inside.slice(from, end < 0 ? undefined : end);
  if (!inner.slice(0, 1000).includes('Envelope')) return;
  const around = tag === null ? '' : ` within <${(tag[1] ?? '').slice(0, 64)}>`;
  draft.error(
    0,
    `the envelope is ${isEscaped ? 'escaped text' : 'in a CDATA section'}${around}: send the envelope as XML, not as text`,
    'the unencoded envelope',
  );
  draft.replace(0, text.length, (isEscaped ? resolveReferences(inner) : inner).trimStart());
};

/** Wrappers of an envelope, in the order of their removal. */
const layers: readonly Layer[] = [
  httpHead,
  mimePart,
  formField,
  jsonString,
  base64Text,
  leadingText,
  escapedDocument,
  cdataDocument,
];
