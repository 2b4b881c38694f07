"""Files of a Jupyter server, up and down, with its token in the SOAP header."""
import base64
import sys

from common import client, failure, said

service, types = client()
token = {"_soapheaders": {"credentials": {"token": sys.argv[2]}}}
said("credentials", failure(lambda: service.ReadFile(path="bytes.bin")))
service.SaveFile(path="docs", Body={"type": "directory"}, **token)
content = base64.b64encode(bytes([0, 255, 16, 127, 128])).decode()
made = service.SaveFile(path="docs/bytes.bin", Body={"type": "file", "format": "base64", "content": content}, **token)
said("upload", made.Body.name)
got = service.ReadFile(path="docs/bytes.bin", format="base64", **token)
said("download", base64.b64decode(got.Body.content.String).hex())
service.SaveFile(path="docs/text.txt", Body={"type": "file", "format": "text", "content": "Zeile & <ö>"}, **token)
said("read", service.ReadFile(path="docs/text.txt", format="text", **token).Body.content.String)


def names():
    """What is in the folder."""
    return ", ".join(sorted(one.name for one in service.ReadFile(path="docs", **token).Body.content.Items.Contents))


said("list", names())
said("update", service.RenameFile(path="docs/text.txt", Body={"path": "docs/renamed.txt"}, **token).Body.name)
service.DeleteFile(path="docs/renamed.txt", **token)
said("delete", names())
said("error", failure(lambda: service.ReadFile(path="docs/nowhere.txt", **token)))
