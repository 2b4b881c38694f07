import jakarta.xml.bind.JAXBElement;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;
import javax.xml.namespace.QName;
import org.apache.cxf.binding.soap.SoapFault;
import org.apache.cxf.jaxws.endpoint.dynamic.JaxWsDynamicClientFactory;
import org.apache.cxf.message.Message;
import org.apache.cxf.service.model.BindingOperationInfo;
import org.apache.cxf.service.model.MessagePartInfo;

/** Makes the checks with CXF's dynamic client: classes generated from the WSDL at run time, filled by reflection. */
public final class Client {
    private static final String TYPES = "http://schemas.servicestack.net/types";

    private final org.apache.cxf.endpoint.Client client;

    private Client(String wsdl, String version) {
        QName service = new QName(TYPES, "ScreeningApi");
        QName port = new QName(TYPES, version.equals("1.1") ? "Soap11" : "Soap12");
        client = JaxWsDynamicClientFactory.newInstance().createClient(wsdl, service, port);
    }

    public static void main(String[] args) throws Exception {
        Client client = new Client(args[0], args[1]);
        Checks.run(args[2], client::call);
        System.exit(0); // CXF's own threads would go on for a while
    }

    private Object call(Checks.Check check) throws Exception {
        check.input().put("Authentication.ApiUserId", "demo");
        check.input().put("Authentication.ApiUserKey", "demo-key");
        client.getRequestContext().put(Message.ENDPOINT_ADDRESS, Checks.endpoint(check));
        BindingOperationInfo operation = client.getEndpoint()
                .getEndpointInfo()
                .getBinding()
                .getOperation(new QName(TYPES, check.operation()))
                .getUnwrappedOperation();
        List<Object> arguments = new ArrayList<>();
        for (MessagePartInfo part : operation.getInput().getMessageParts()) {
            arguments.add(value(check, part.getConcreteName().getLocalPart(), part.getTypeClass()));
        }
        try {
            return client.invoke(operation, arguments.toArray())[0];
        } catch (SoapFault e) {
            return new Checks.Fault(e.getFaultCode().getLocalPart(), e.getReason());
        }
    }

    /** Returns a value of the type for the check's input at the path, or null if it has none. */
    private static Object value(Checks.Check check, String path, Class<?> type) throws Exception {
        if (type.isEnum()) {
            return check.has(path) ? type.getMethod("fromValue", String.class).invoke(null, check.text(path)) : null;
        }
        return switch (type.getSimpleName()) {
            case "String" -> check.text(path);
            case "Boolean", "boolean" -> check.flag(path);
            case "Integer", "int" -> check.integer(path);
            case "Long", "long" -> check.has(path) ? Long.valueOf(check.text(path)) : null;
            case "XMLGregorianCalendar" -> date(check, path);
            default -> bean(check, path, type);
        };
    }

    private static XMLGregorianCalendar date(Checks.Check check, String path) throws Exception {
        return check.has(path) ? DatatypeFactory.newInstance().newXMLGregorianCalendar(check.text(path)) : null;
    }

    private static Object bean(Checks.Check check, String path, Class<?> type) throws Exception {
        Collection<String> names = namesBelow(check, path);
        if (names.isEmpty()) {
            return null;
        }
        Object bean = type.getConstructor().newInstance();
        for (String name : names) {
            String inner = path + "." + name;
            if (check.has(inner + ".#")) {
                @SuppressWarnings("unchecked")
                List<Object> items = (List<Object>) method(type, "get" + name).invoke(bean);
                items.addAll(List.of(check.texts(inner)));
                continue;
            }
            Method setter = method(type, "set" + name);
            Type parameter = setter.getGenericParameterTypes()[0];
            if (parameter instanceof ParameterizedType element && element.getRawType() == JAXBElement.class) {
                Object value = value(check, inner, (Class<?>) element.getActualTypeArguments()[0]);
                Class<?> factory = type.getClassLoader().loadClass(type.getPackageName() + ".ObjectFactory");
                Method create = method(factory, "create" + type.getSimpleName() + name);
                setter.invoke(bean, create.invoke(factory.getConstructor().newInstance(), value));
            } else {
                setter.invoke(bean, value(check, inner, (Class<?>) parameter));
            }
        }
        return bean;
    }

    /** Returns the inputs that the check has for a record. */
    private static Collection<String> namesBelow(Checks.Check check, String path) {
        return check.input().keySet().stream()
                .filter(key -> key.startsWith(path + "."))
                .map(key -> key.substring(path.length() + 1).split("\\.")[0])
                .distinct()
                .toList();
    }

    private static Method method(Class<?> type, String name) {
        return Arrays.stream(type.getMethods())
                .filter(method -> method.getName().equalsIgnoreCase(name))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(type + ": expected a method " + name + ", got none"));
    }
}
