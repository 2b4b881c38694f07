import java.nio.charset.StandardCharsets;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/** Responds to each request with its request target, with an embedded Jetty and its defaults. Prints its port. */
public final class JettyEcho {
    public static void main(String[] args) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                String target = request.getHttpURI().getPathQuery().replace("\\", "\\\\").replace("\"", "\\\"");
                response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
                byte[] json = ("{\"target\":\"" + target + "\"}").getBytes(StandardCharsets.UTF_8);
                response.write(true, ByteBuffer.wrap(json), callback);
                return true;
            }
        });
        server.start();
        System.out.println(connector.getLocalPort());
        server.join();
    }
}
