-- expect: string expected|table|bad argument
r.SetRequestBody({})
