"""Collections and records of Chroma, from one end to the other."""
from common import client, failure, said

service, types = client()
service.create_tenant(Body={"name": "city"})
service.create_database(tenant="city", Body={"name": "library"})
place = {"tenant": "city", "database": "library"}
made = service.create_collection(**place, Body={"name": "books"})
said("create", f"{made.name} in {made.database} of {made.tenant}")
said("read", service.get_collection(**place, collection_id="books").name)
said("list", len(service.list_collections(**place)))
one = {**place, "collection_id": made.id}
service.collection_add(
    **one,
    Body={
        "ids": {"string": ["a", "b"]},
        "documents": {"string": ["first & last", "<ö>"]},
        "embeddings": {"ArrayOfArrayOffloat": {"ArrayOffloat": [{"float": [0.5, -1.25]}, {"float": [1, 2]}]}},
    },
)
said("add", service.collection_count(**one))
got = service.collection_get(**one, Body={"ids": {"string": ["a", "b"]}, "include": {"Include": ["documents", "embeddings"]}})
said("fetch", ", ".join(f"{key}={text}" for key, text in zip(got.ids.string, got.documents.string)))
said("numbers", " ".join(str(number) for number in got.embeddings.ArrayOffloat[0].float))
service.update_collection(**one, Body={"new_name": "volumes"})
said("update", service.get_collection(**place, collection_id="volumes").name)
service.delete_collection(**place, collection_id="volumes")
said("delete", service.count_collections(**place))
said("error", failure(lambda: service.get_tenant(tenant_name="nowhere")).split(":")[0])
