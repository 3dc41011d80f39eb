-- expect: error object|nil
error(nil)
