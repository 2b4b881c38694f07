/** One of several contracts of a process, as the list at `/` tells of it. */
export interface ListedService {
  /** Its base path, of characters that need no escape. */
  readonly path: string;
  /** The service's name, an XML name. */
  readonly name: string;
}

/** The page at `/` of a process that serves several contracts: each with its page and its WSDL. */
export function servicesPage(services: readonly ListedService[]): string {
  const items = services
    .map(
      ({ path, name }) => `<li><a href="${path}">${name}</a> · <a href="${path}/soap11?wsdl">WSDL</a></li>`,
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
