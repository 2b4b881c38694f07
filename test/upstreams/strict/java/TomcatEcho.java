import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** Responds to each request with its request target, with an embedded Tomcat and its defaults. Prints its port. */
public final class TomcatEcho {
    public static void main(String[] args) throws Exception {
        File base = Files.createTempDirectory("tomcat-echo").toFile();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.getPath());
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        Context context = tomcat.addContext("", base.getPath());
        Tomcat.addServlet(context, "echo", new HttpServlet() {
            @Override
            protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
                String query = request.getQueryString();
                String target = request.getRequestURI() + (query == null ? "" : "?" + query);
                response.setContentType("application/json");
                response.getWriter().print("{\"target\":\"" + target.replace("\\", "\\\\").replace("\"", "\\\"") + "\"}");
            }
        });
        context.addServletMappingDecoded("/*", "echo");
        tomcat.start();
        System.out.println(tomcat.getConnector().getLocalPort());
        tomcat.getServer().await();
    }
}
