import javax.xml.ws.BindingProvider;
import javax.xml.namespace.QName;
import javax.xml.bind.JAXBElement;

/** Helpers of the programs in this folder: output lines for steps, and the text of a fault. */
final class Said {
  interface Call {
    Object run() throws Exception;
  }

  static void said(String step, Object value) {
    System.out.println(step + "\t" + value);
  }

  /** Returns the text of the fault that a call must return, declared or not. */
  static String failure(Call call) {
    try {
      call.run();
      return "no fault";
    } catch (Exception error) {
      return error.getMessage();
    }
  }

  static <T> JAXBElement<T> element(String namespace, String name, Class<T> type, T value) {
    return new JAXBElement<>(new QName(namespace, name), type, value);
  }

  /** Adds an HTTP header to every call of a port. */
  static void header(Object port, String name, String value) {
    ((BindingProvider) port).getRequestContext().put(
        javax.xml.ws.handler.MessageContext.HTTP_REQUEST_HEADERS,
        java.util.Map.of(name, java.util.List.of(value)));
  }
}
