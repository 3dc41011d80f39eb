-- expect: no integer
r:SetResponseStatusCode(200.5)
