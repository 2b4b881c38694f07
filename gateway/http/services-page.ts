import { escapeAttribute } from '../../mappings/codec/scalars/text.ts';

/** An entry of the list at `/`, if a process serves several contracts. */
export interface ListedService {
  /** The base path. It contains only characters that need no escaping. */
  readonly path: string;
  /** The name of the service, an XML name. */
  readonly name: string;
  /** The path of its WSDL after the base path: `/soap11`, or the path of a port. */
  readonly wsdlPath: string;
}

/** Returns the page at `/` of a process that serves several contracts, with links to their pages and WSDLs. */
export function servicesPage(services: readonly ListedService[]): string {
  const items = services
    .map(
      ({ path, name, wsdlPath }) =>
        `<li><a href="${path}">${name}</a> · <a href="${escapeAttribute(path + wsdlPath)}?wsdl">WSDL</a></li>`,
    )
    .join('\n');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Services</title>
<h1>Services</h1>
<ul>
${items}
</ul>
</html>
`;
}
