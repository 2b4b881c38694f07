"""What docs/clients/python.md shows."""

import sys

wsdl = sys.argv[1]

# docs:begin call
import zeep

client = zeep.Client(wsdl)
credentials = {"ApiUserId": "demo", "ApiUserKey": "demo-key"}

data = client.service.GetSearch(
    Authentication=credentials,
    Request={"Id": 1, "OnlyShowUnresolvedResults": True, "SubUserName": "jane"},
)
if data.ResponseStatus and data.ResponseStatus.ErrorCode:
    raise RuntimeError(data.ResponseStatus.Message)
print(data.SearchRecord.NumOfResults, "results for", data.SearchRecord.SearchCriteria.Name)
# docs:end call

# docs:begin array
data = client.service.UpdateSubUser(
    Authentication=credentials,
    Request={"SubUserName": "jane", "Permissions": {"string": ["bob", "owner"]}},
)
print(data.SubUser.UserName, "sees the searches of", ", ".join(data.SubUser.Permissions.string))
# docs:end array

# docs:begin headers
import requests

session = requests.Session()
session.headers.update({"X-Api-User": "demo", "X-Api-Key": "demo-key"})
client = zeep.Client(wsdl, transport=zeep.Transport(session=session))
print(client.service.GetEulaStatus(Request={"SubUserName": "jane"}).AgreeToContactInfo)
# docs:end headers

# docs:begin soap12
service = client.bind("ScreeningApi", "Soap12")
print(service.GetEulaStatus(Request={"SubUserName": "jane"}).AgreeToContactInfo)
# docs:end soap12
