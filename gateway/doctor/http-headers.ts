import type { CompiledOperation } from '../../mappings/compiled.ts';
import { parseContentType } from '../../mappings/http-mapping/content-type.ts';
import { soap11, soap12 } from '../protocols/soap/versions.ts';
import type { Findings } from './findings.ts';
import type { Known } from './known.ts';

/** Findings about the HTTP headers of a message. */

/** Returns the SOAP version of a Content-Type; undefined for any other type. */
export function statedVersion(contentType: string | undefined): '1.1' | '1.2' | undefined {
  if (contentType === undefined) return undefined;
  const { type } = parseContentType(contentType);
  return type === 'application/soap+xml' ? '1.2' : type === 'text/xml' ? '1.1' : undefined;
}

/** Reports a Content-Type that does not match the envelope. */
export function noteContentType(
  contentType: string | undefined,
  version: '1.1' | '1.2',
  findings: Findings,
): void {
  const right = version === '1.1' ? soap11.contentType : soap12.contentType;
  if (contentType === undefined || contentType.trim() === '') return;
  const { type } = parseContentType(contentType);
  const stated = statedVersion(contentType);
  if (stated === version) return;
  if (type === 'multipart/related' || (version === '1.1' && type === 'application/xml')) return;
  if (stated !== undefined)
    findings.noteHeader(
      'warning',
      `SOAP ${stated} content type on a ${version} envelope: ${type} belongs to SOAP ${stated}, but the envelope is SOAP ${version}. This service uses the envelope, others respond with 415 or VersionMismatch`,
      right,
    );
  else
    findings.noteHeader(
      /json|form|html|dime|multipart/.test(type) ? 'error' : 'warning',
      `Content-Type is ${type.slice(0, 64) || 'invalid'}, and a SOAP ${version} message is ${right.split(';')[0]}: change the default of the HTTP client`,
      right,
    );
}

/** Reports a SOAPAction, or an action of SOAP 1.2, that does not match the body. */
export function noteAction(
  { compiled }: Known,
  operation: CompiledOperation,
  headers: Readonly<Record<string, string | undefined>>,
  version: '1.1' | '1.2',
  findings: Findings,
): void {
  const { name } = operation.operation;
  const { action: right, actions } = operation.operation.binding;
  const given = headers.soapaction;
  const content = headers['content-type'];
  if (given === undefined) {
    if (version === '1.1' && content !== undefined && /^\s*text\/xml/i.test(content))
      findings.noteHeader(
        'warning',
        'SOAPAction is missing: SOAP 1.1 requires the header, which may be empty (""). This service uses the body, but .NET services reject the call',
        `SOAPAction: "${right}"`,
      );
    return;
  }
  const text = given.trim();
  const action = text.replace(/^"(.*)"$/, '$1');
  if (version === '1.2')
    findings.noteHeader(
      'warning',
      'SOAPAction is a SOAP 1.1 header: SOAP 1.2 uses the action parameter of Content-Type',
      `application/soap+xml; charset=utf-8; action="${right}"`,
    );
  else if (text !== '' && !/^".*"$/.test(text))
    findings.noteHeader(
      'warning',
      'SOAPAction has no quotes: its value is a string in quotes (SOAP 1.1, 6.1.1)',
      `SOAPAction: "${right}"`,
    );
  if (action === '' || actions.includes(action)) return;
  const last = action.slice(Math.max(action.lastIndexOf('/'), action.lastIndexOf('#')) + 1);
  const other = compiled.contract.operations.find(
    (one) => one.name !== name && (one.name === last || one.binding.actions.includes(action)),
  )?.name;
  if (other !== undefined)
    findings.noteHeader(
      'error',
      `SOAPAction belongs to ${other}, but the body calls ${name}: the header is from another call`,
      `SOAPAction: "${right}"`,
    );
  else if (last !== name)
    findings.noteHeader(
      'warning',
      `SOAPAction is not an action of this service: the action of ${name} is "${right}"`,
      `SOAPAction: "${right}"`,
    );
}
