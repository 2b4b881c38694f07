import java.net.URL;
import java.util.Arrays;
import java.util.List;
import up.*;

/** Creates, reads and deletes collections and records of Chroma. */
public class chroma {
  public static void main(String[] arguments) throws Exception {
    IChroma port = new Chroma(new URL(arguments[0])).getSoap12();
    CreateTenantPayload tenant = new CreateTenantPayload();
    tenant.setName("city");
    port.createTenant(tenant);
    CreateDatabasePayload database = new CreateDatabasePayload();
    database.setName("library");
    port.createDatabase("city", database);
    CreateCollectionPayload wanted = new CreateCollectionPayload();
    wanted.setName("books");
    Collection made = port.createCollection("city", "library", wanted);
    Said.said("create", made.getName() + " in " + made.getDatabase() + " of " + made.getTenant());
    Said.said("read", port.getCollection("city", "library", "books").getName());
    Said.said("list", port.listCollections("city", "library", null, null).getVecItem().size());
    AddCollectionRecordsPayload records = new AddCollectionRecordsPayload();
    records.setIds(texts("a", "b"));
    records.setDocuments(Said.element("urn:Chroma", "documents", ArrayOfstring.class, texts("first & last", "<ö>")));
    ArrayOfArrayOffloat rows = new ArrayOfArrayOffloat();
    rows.getArrayOffloat().add(numbers(0.5f, -1.25f));
    rows.getArrayOffloat().add(numbers(1f, 2f));
    EmbeddingsPayload embeddings = new EmbeddingsPayload();
    embeddings.setArrayOfArrayOffloat(rows);
    records.setEmbeddings(embeddings);
    port.collectionAdd("city", "library", made.getId(), records);
    Said.said("add", port.collectionCount("city", "library", made.getId(), null));
    GetRequestPayload query = new GetRequestPayload();
    query.setIds(Said.element("urn:Chroma", "ids", ArrayOfstring.class, texts("a", "b")));
    ArrayOfInclude include = new ArrayOfInclude();
    include.getInclude().addAll(List.of(Include.DOCUMENTS, Include.EMBEDDINGS));
    query.setInclude(include);
    GetResponse got = port.collectionGet("city", "library", made.getId(), query);
    List<String> documents = got.getDocuments().getValue().getString();
    Said.said("fetch", got.getIds().getString().get(0) + "=" + documents.get(0) + ", "
        + got.getIds().getString().get(1) + "=" + documents.get(1));
    List<Float> first = got.getEmbeddings().getValue().getArrayOffloat().get(0).getFloat();
    Said.said("numbers", first.get(0) + " " + first.get(1));
    UpdateCollectionPayload update = new UpdateCollectionPayload();
    update.setNewName(Said.element("urn:Chroma", "new_name", String.class, "volumes"));
    port.updateCollection("city", "library", made.getId(), update);
    Said.said("update", port.getCollection("city", "library", "volumes").getName());
    port.deleteCollection("city", "library", "volumes");
    Said.said("delete", port.countCollections("city", "library"));
    Said.said("error", Said.failure(() -> port.getTenant("nowhere")));
  }

  private static ArrayOfstring texts(String... texts) {
    ArrayOfstring list = new ArrayOfstring();
    list.getString().addAll(Arrays.asList(texts));
    return list;
  }

  private static ArrayOffloat numbers(Float... numbers) {
    ArrayOffloat list = new ArrayOffloat();
    list.getFloat().addAll(Arrays.asList(numbers));
    return list;
  }
}
