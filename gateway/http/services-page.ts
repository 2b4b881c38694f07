import { escapeAttribute } from '../../mappings/codec/scalars/text.ts';

/** One of several contracts of a process, as the list at `/` tells of it. */
export interface ListedService {
  /** Its base path, of characters that need no escape. */
  readonly path: string;
  /** The service's name, an XML name. */
  readonly name: string;
  /** The path of its WSDL behind the base path: `/soap11`, or that of a port. */
  readonly wsdlPath: string;
}

/** The page at `/` of a process that serves several contracts: each with its page and its WSDL. */
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
