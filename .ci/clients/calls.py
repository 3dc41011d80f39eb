"""Calls the server with the client that openapi-python-client has made."""

import os

from webhook_client import AuthenticatedClient
from webhook_client.api.account_api_key import get_api_key
from webhook_client.api.buckets import create_bucket, delete_bucket, get_bucket
from webhook_client.api.logs import list_logs
from webhook_client.api.other import get_config
from webhook_client.api.outputs import create_output
from webhook_client.models import (
    AccountAPIKey,
    Bucket,
    GenericResult,
    LogList,
    Output,
    RegexMatch,
    RegexMatchType,
    RequestParameter,
    RequestParameterName,
    RequestParameterSource,
    Rules,
    ServerConfig,
)

base, key = os.environ["BASE"], os.environ["KEY"]
client = AuthenticatedClient(base_url=base, token=key, raise_on_unexpected_status=True)

config = get_config.sync(client=client)
assert isinstance(config, ServerConfig), config
assert isinstance(get_api_key.sync(client=client), AccountAPIKey)

bucket = create_bucket.sync(client=client, body=Bucket(name="made in Python"))
assert isinstance(bucket, Bucket) and bucket.id, bucket
rules = Rules(
    match=RegexMatch(
        type_=RegexMatchType.REGEX,
        regex="^/orders",
        parameter=RequestParameter(
            source=RequestParameterSource.REQUEST, name=RequestParameterName.PATH
        ),
    )
)
output = create_output.sync(
    bucket.id, client=client, body=Output(name="to clients", internal=True, rules=rules)
)
assert isinstance(output, Output), output
assert isinstance(output.rules, Rules) and isinstance(output.rules.match, RegexMatch), output

read = get_bucket.sync(bucket.id, client=client)
assert isinstance(read, Bucket) and read.outputs == [output], read
logs = list_logs.sync(client=client, limit=1)
assert isinstance(logs, LogList) and logs.limit == 1, logs
deleted = delete_bucket.sync(bucket.id, client=client, force=True)
assert isinstance(deleted, GenericResult) and deleted.status == "deleted", deleted

anonymous = AuthenticatedClient(base_url=base, token="sk-wrong")
refused = get_config.sync_detailed(client=anonymous)
assert refused.status_code == 401 and "WWW-Authenticate" in refused.headers, refused
print("the Python client: 7 operations")
