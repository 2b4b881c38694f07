"""A flow of Prefect, from one end to the other."""
from common import client, failure, said

service, types = client()
made = service.CreateFlow(Body={"name": "nightly – Ä+ö", "tags": {"string": ["a", "b"]}})
said("create", made.name)
read = service.ReadFlow(id=made.id)
said("read", f"{read.name}: {', '.join(read.tags.string)}")
wanted = {"flows": {"name": {"any_": {"string": ["nightly – Ä+ö"]}}}}
said("list", len(service.ReadFlows(Body=wanted)))
service.UpdateFlow(id=made.id, Body={"tags": {"string": ["c"]}})
said("update", service.ReadFlow(id=made.id).tags.string[0])
service.DeleteFlow(id=made.id)
said("delete", len(service.ReadFlows(Body=wanted) or []))
said("error", failure(lambda: service.ReadFlow(id=made.id)))
