-- expect: not a status
r:SetResponseStatusCode(99)
