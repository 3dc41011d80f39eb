-- expect: unexpected

