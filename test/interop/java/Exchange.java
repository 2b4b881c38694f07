import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.xml.bind.JAXBElement;
import jakarta.xml.bind.annotation.XmlElement;
import jakarta.xml.bind.annotation.XmlElementDecl;
import jakarta.xml.bind.annotation.XmlElementRef;
import jakarta.xml.ws.RequestWrapper;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.WebEndpoint;
import jakarta.xml.ws.WebFault;
import jakarta.xml.ws.WebServiceClient;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Makes the exchanges of documents. Beans of the package document, which wsimport generates, are filled from calls.xml
 * and printed by reflection.
 */
public final class Exchange {
    private static final String NIL = "http://www.w3.org/2001/XMLSchema-instance";

    private Exchange() {}

    public static void main(String[] args) throws Exception {
        Service service = service(new URL(args[0]), new File(args[2], "document"));
        DocumentBuilderFactory parsers = DocumentBuilderFactory.newInstance();
        parsers.setNamespaceAware(true);
        List<Element> calls = children(parsers.newDocumentBuilder().parse(new File(args[1])).getDocumentElement());
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String version : List.of("1.1", "1.2")) {
            Object port = port(service, version.equals("1.1") ? "Soap11" : "Soap12");
            for (Element call : calls) {
                out.println("{\"name\":" + quote(call.getAttribute("name")) + ",\"version\":" + quote(version) + ","
                        + outcome(port, children(call).get(0)) + "}");
            }
        }
    }

    private static Service service(URL wsdl, File folder) throws Exception {
        for (String file : folder.list((directory, name) -> name.endsWith(".class"))) {
            Class<?> type = Class.forName("document." + file.replace(".class", ""));
            if (type.isAnnotationPresent(WebServiceClient.class)) {
                return (Service) type.getConstructor(URL.class).newInstance(wsdl);
            }
        }
        throw new IllegalStateException(folder + ": expected a service class, got none");
    }

    private static Object port(Service service, String name) throws ReflectiveOperationException {
        for (Method method : service.getClass().getMethods()) {
            WebEndpoint endpoint = method.getAnnotation(WebEndpoint.class);
            if (endpoint != null && endpoint.name().equals(name) && method.getParameterCount() == 0) {
                return method.invoke(service);
            }
        }
        throw new IllegalStateException("expected a port " + name + ", got none");
    }

    private static String outcome(Object port, Element request) {
        try {
            Method method = method(port, request.getLocalName());
            Object reply = method.invoke(port, arguments(method, request));
            String result = method.getAnnotation(WebResult.class).name();
            return "\"got\":" + (reply == null ? "{}" : "{" + quote(result) + ":[" + tree(reply) + "]}");
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof SOAPFaultException fault) {
                return "\"fault\":{\"code\":" + quote(fault.getFault().getFaultCodeAsQName().getLocalPart())
                        + ",\"message\":" + quote(fault.getFault().getFaultString()) + "}";
            }
            // a declared fault, which JAX-WS returns without its code
            if (e.getCause().getClass().isAnnotationPresent(WebFault.class)) {
                return "\"fault\":{\"message\":" + quote(e.getCause().getMessage()) + "}";
            }
            return error(e.getCause());
        } catch (Exception e) {
            return error(e);
        }
    }

    private static String error(Throwable why) {
        why.printStackTrace();
        return "\"error\":" + quote(why.toString());
    }

    private static Method method(Object port, String operation) {
        for (Class<?> type : port.getClass().getInterfaces()) {
            for (Method method : type.getMethods()) {
                RequestWrapper wrapper = method.getAnnotation(RequestWrapper.class);
                if (wrapper != null && wrapper.localName().equals(operation)) {
                    return method;
                }
            }
        }
        throw new IllegalStateException("expected a method of " + operation + ", got none");
    }

    private static Object[] arguments(Method method, Element request) throws Exception {
        Parameter[] parameters = method.getParameters();
        Object[] arguments = new Object[parameters.length];
        for (Element child : children(request)) {
            int place = IntStream.range(0, parameters.length)
                    .filter(i -> parameters[i].getAnnotation(WebParam.class).name().equals(child.getLocalName()))
                    .findFirst()
                    .orElseThrow();
            arguments[place] = value(child, parameters[place].getParameterizedType(), null);
        }
        return arguments;
    }

    /** Converts an element's content for a field or parameter of the type. `owner` is the bean's class. */
    private static Object value(Element element, Type type, Class<?> owner) throws Exception {
        if (type instanceof ParameterizedType generic && generic.getRawType() == JAXBElement.class) {
            return inElement(element, generic, owner);
        }
        Class<?> plain = (Class<?>) type;
        if (element.getAttributeNS(NIL, "nil").equals("true")) {
            return null;
        }
        String text = element.getTextContent();
        if (plain.isEnum()) {
            return plain.getMethod("fromValue", String.class).invoke(null, text);
        }
        return switch (plain.getSimpleName()) {
            case "String" -> text;
            case "Boolean", "boolean" -> text.equals("true") || text.equals("1");
            case "Byte", "byte" -> Byte.valueOf(text);
            case "Short", "short" -> Short.valueOf(text);
            case "Integer", "int" -> Integer.valueOf(text);
            case "Long", "long" -> Long.valueOf(text);
            case "Float", "float" -> Float.valueOf(text);
            case "Double", "double" -> Double.valueOf(text);
            case "BigInteger" -> new BigInteger(text);
            case "BigDecimal" -> new BigDecimal(text);
            case "byte[]" -> Base64.getDecoder().decode(text);
            case "XMLGregorianCalendar" -> DatatypeFactory.newInstance().newXMLGregorianCalendar(text);
            default -> bean(element, plain);
        };
    }

    /** Creates a nillable member with the ObjectFactory. */
    private static Object inElement(Element element, ParameterizedType type, Class<?> owner) throws Exception {
        Class<?> factory = Class.forName("document.ObjectFactory");
        for (Method method : factory.getMethods()) {
            XmlElementDecl declared = method.getAnnotation(XmlElementDecl.class);
            if (declared != null && declared.scope() == owner && declared.name().equals(element.getLocalName())) {
                Object value = value(element, method.getGenericParameterTypes()[0], owner);
                return method.invoke(factory.getConstructor().newInstance(), value);
            }
        }
        throw new IllegalStateException("expected a way to make " + element.getLocalName() + ", got none");
    }

    private static Object bean(Element element, Class<?> type) throws Exception {
        Object bean = type.getConstructor().newInstance();
        for (Element child : children(element)) {
            Field field = Arrays.stream(type.getDeclaredFields())
                    .filter(candidate -> nameOf(candidate).equals(child.getLocalName()))
                    .findFirst()
                    .orElseThrow();
            field.setAccessible(true);
            if (field.getType() == List.class) {
                Type item = ((ParameterizedType) field.getGenericType()).getActualTypeArguments()[0];
                list(bean, field).add(value(child, item, type));
            } else {
                field.set(bean, value(child, field.getGenericType(), type));
            }
        }
        return bean;
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(Object bean, Field field) throws IllegalAccessException {
        if (field.get(bean) == null) {
            field.set(bean, new ArrayList<>());
        }
        return (List<Object>) field.get(bean);
    }

    /** Returns the element name of a field. */
    private static String nameOf(Field field) {
        XmlElementRef ref = field.getAnnotation(XmlElementRef.class);
        if (ref != null) {
            return ref.name();
        }
        XmlElement element = field.getAnnotation(XmlElement.class);
        return element == null || element.name().equals("##default") ? field.getName() : element.name();
    }

    /** Formats a value for comparison. */
    private static String tree(Object value) throws ReflectiveOperationException {
        if (value instanceof JAXBElement<?> element) {
            return tree(element.getValue());
        }
        if (value == null) {
            return "null";
        }
        if (value instanceof String text) {
            return quote(text);
        }
        if (value instanceof byte[] bytes) {
            return quote(Base64.getEncoder().encodeToString(bytes));
        }
        if (value instanceof Enum<?>) {
            return quote((String) value.getClass().getMethod("value").invoke(value));
        }
        if (value.getClass().getPackageName().equals("document")) {
            return members(value);
        }
        return "{\"is\":" + quote(lexical(value)) + "}";
    }

    private static String members(Object bean) throws ReflectiveOperationException {
        List<String> members = new ArrayList<>();
        for (Field field : bean.getClass().getDeclaredFields()) {
            field.setAccessible(true);
            Object value = field.get(bean);
            if (value == null) {
                continue;
            }
            List<String> items = new ArrayList<>();
            for (Object item : value instanceof List<?> list ? list : List.of(value)) {
                items.add(tree(item));
            }
            members.add(quote(nameOf(field)) + ":[" + String.join(",", items) + "]");
        }
        return "{" + String.join(",", members) + "}";
    }

    private static String lexical(Object value) {
        if (value instanceof BigDecimal decimal) {
            return decimal.toPlainString();
        }
        return value instanceof XMLGregorianCalendar date ? date.toXMLFormat() : value.toString();
    }

    private static List<Element> children(Element parent) {
        NodeList nodes = parent.getChildNodes();
        return IntStream.range(0, nodes.getLength())
                .mapToObj(nodes::item)
                .filter(Element.class::isInstance)
                .map(Element.class::cast)
                .toList();
    }

    private static String quote(String text) {
        return text.chars()
                .mapToObj(c -> c < ' ' || c == '"' || c == '\\' || c > '~'
                        ? String.format("\\u%04x", c)
                        : Character.toString(c))
                .collect(Collectors.joining("", "\"", "\""));
    }
}
