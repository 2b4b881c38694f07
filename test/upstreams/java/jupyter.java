import java.net.URL;
import java.util.Base64;
import java.util.stream.Collectors;
import up.*;

/** Uploads and downloads files of a Jupyter server, with its token in the HTTP header. */
public class jupyter {
  public static void main(String[] arguments) throws Exception {
    IJupyter port = new Jupyter(new URL(arguments[0])).getSoap12();
    Said.said("credentials", Said.failure(() -> port.readFile("docs/bytes.bin", null, null, null, null)));
    Said.header(port, "Authorization", arguments[1]);
    save(port, "docs", "directory", null, null);
    String content = Base64.getEncoder().encodeToString(new byte[] {0, (byte) 255, 16, 127, (byte) 128});
    Said.said("upload", save(port, "docs/bytes.bin", "file", "base64", content).getName());
    Contents got = port.readFile("docs/bytes.bin", null, ReadFileFormat.BASE_64, null, null).getBody();
    byte[] bytes = Base64.getMimeDecoder().decode(got.getContent().getValue().getString());
    StringBuilder hex = new StringBuilder();
    for (byte one : bytes) hex.append(String.format("%02x", one));
    Said.said("download", hex);
    save(port, "docs/text.txt", "file", "text", "Zeile & <ö>");
    Said.said("read", port.readFile("docs/text.txt", null, ReadFileFormat.TEXT, null, null)
        .getBody().getContent().getValue().getString());
    Said.said("list", names(port));
    RenameFileBody renamed = new RenameFileBody();
    renamed.setPath("docs/renamed.txt");
    Said.said("update", port.renameFile("docs/text.txt", renamed).getBody().getName());
    port.deleteFile("docs/renamed.txt");
    Said.said("delete", names(port));
    Said.said("error", Said.failure(() -> port.readFile("docs/nowhere.txt", null, null, null, null)));
  }

  private static Contents save(IJupyter port, String path, String type, String format, String content)
      throws Exception {
    SaveFileBody body = new SaveFileBody();
    body.setType(type);
    body.setFormat(format);
    body.setContent(content);
    return port.saveFile(path, body).getBody();
  }

  private static String names(IJupyter port) throws Exception {
    return port.readFile("docs", null, null, null, null).getBody().getContent().getValue().getItems()
        .getContents().stream().map(Contents::getName).sorted().collect(Collectors.joining(", "));
  }
}
