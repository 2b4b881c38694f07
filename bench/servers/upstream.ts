import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/**
 * A service that answers every call with one fixed reply in JSON, or with the content of a file and its media type. Its own cost is small
 * compared with the measured server.
 */
const [, , port, file, type = 'application/json'] = process.argv;
const usual = Buffer.from(
  JSON.stringify({
    data: {
      responseStatus: {},
      subUser: {
        isMainUser: false,
        userId: '6f9619ff8b86d011b42d00cf4fc964ff',
        userName: 'jane',
        name: 'Zoë & Söhne <漢字>',
        email: 'jane@screening.example',
        isAdmin: false,
        canResolveSearches: true,
        canDeleteSearches: true,
        permissions: ['a&b', '<c>', 'é漢😀'],
      },
    },
  }),
);

const reply = file === undefined ? usual : readFileSync(file);

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': type, 'Content-Length': reply.length });
    response.end(reply);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
