import java.net.URL;
import java.util.Arrays;
import up.*;

/** Creates, reads and deletes a flow of Prefect. */
public class prefect {
  private static final String name = "nightly – Ä+ö";

  public static void main(String[] arguments) throws Exception {
    IPrefect port = new Prefect(new URL(arguments[0])).getSoap12();
    FlowCreate wanted = new FlowCreate();
    wanted.setName(name);
    wanted.setTags(texts("a", "b"));
    Flow made = port.createFlow(null, wanted);
    Said.said("create", made.getName());
    Flow read = port.readFlow(made.getId(), null);
    Said.said("read", read.getName() + ": " + String.join(", ", read.getTags().getString()));
    Said.said("list", found(port));
    FlowUpdate update = new FlowUpdate();
    update.setTags(texts("c"));
    port.updateFlow(made.getId(), null, update);
    Said.said("update", port.readFlow(made.getId(), null).getTags().getString().get(0));
    port.deleteFlow(made.getId(), null);
    Said.said("delete", found(port));
    Said.said("error", Said.failure(() -> port.readFlow(made.getId(), null)));
  }

  private static int found(IPrefect port) throws Exception {
    FlowFilterName named = new FlowFilterName();
    named.setAny(Said.element("urn:Prefect", "any_", ArrayOfstring.class, texts(name)));
    FlowFilter flows = new FlowFilter();
    flows.setName(Said.element("urn:Prefect", "name", FlowFilterName.class, named));
    BodyReadFlowsFlowsFilterPost body = new BodyReadFlowsFlowsFilterPost();
    body.setFlows(flows);
    ArrayOfFlow list = port.readFlows(null, body);
    return list == null ? 0 : list.getFlow().size();
  }

  private static ArrayOfstring texts(String... texts) {
    ArrayOfstring list = new ArrayOfstring();
    list.getString().addAll(Arrays.asList(texts));
    return list;
  }
}
