/** A third-party server with its own OpenAPI document, and the expected output of clients. */
export interface Server {
  /** Name of the folders with its contract and client programs. */
  readonly name: string;
  readonly title: string;
  /** PyPI packages, installed into a separate environment. */
  readonly packages: readonly string[];
  /** Command that starts it: a program of that environment with arguments. */
  readonly command: (port: number, home: string) => readonly [program: string, ...args: string[]];
  readonly environment?: (home: string) => Readonly<Record<string, string>>;
  /** A path that responds with 200 once the server is ready. */
  readonly ready: string;
  /** Base path of its document, if the document does not state it. */
  readonly base: string;
  /** Location of its document: a path of the server, or a file of a package. */
  readonly document: { readonly path: string } | { readonly module: string; readonly file: string };
  /** Expected output of a client by step. */
  readonly expected: Readonly<Record<string, string>>;
}

export const token = 'token of-upstreams-test';

export const servers: readonly Server[] = [
  {
    name: 'chroma',
    title: 'Chroma 1.5.9',
    packages: ['chromadb==1.5.9'],
    command: (port, home) => ['chroma', 'run', '--path', home, '--host', '127.0.0.1', '--port', `${port}`],
    ready: '/api/v2/heartbeat',
    base: '',
    document: { path: '/openapi.json' },
    expected: {
      create: 'books in library of city',
      read: 'books',
      list: '1',
      add: '2',
      fetch: 'a=first & last, b=<ö>',
      numbers: '0.5 -1.25',
      update: 'volumes',
      delete: '0',
      error: 'NotFoundError',
    },
  },
  {
    name: 'prefect',
    title: 'Prefect 3.8.8',
    packages: ['prefect==3.8.8', 'fastapi==0.139.0'],
    command: (port) => ['prefect', 'server', 'start', '--host', '127.0.0.1', '--port', `${port}`, '--no-ui'],
    environment: (home) => ({ PREFECT_HOME: home, PREFECT_SERVER_ANALYTICS_ENABLED: 'false' }),
    ready: '/api/health',
    base: '/api',
    document: { path: '/openapi.json' },
    expected: {
      create: 'nightly – Ä+ö',
      read: 'nightly – Ä+ö: a, b',
      list: '1',
      update: 'c',
      delete: '0',
      error: 'Flow not found',
    },
  },
  {
    name: 'jupyter',
    title: 'Jupyter Server 2.21.1',
    packages: ['jupyter-server==2.21.1'],
    command: (port, home) => [
      'jupyter-server',
      '--no-browser',
      '--allow-root',
      '--ip=127.0.0.1',
      `--port=${port}`,
      '--ServerApp.port_retries=0',
      `--ServerApp.root_dir=${home}`,
    ],
    environment: (home) => ({
      JUPYTER_TOKEN: token.replace('token ', ''),
      JUPYTER_RUNTIME_DIR: `${home}/.run`,
    }),
    ready: '/api/',
    base: '',
    document: { module: 'jupyter_server', file: 'services/api/api.yaml' },
    expected: {
      credentials: 'Authorization',
      upload: 'bytes.bin',
      download: '00ff107f80',
      list: 'bytes.bin, text.txt',
      read: 'Zeile & <ö>',
      update: 'renamed.txt',
      delete: 'bytes.bin',
      error: '404',
    },
  },
];
