// ends: compute time | fuel | depth of the call stack
JSON.parse('[1]', function again(k, v) { return JSON.parse('[1]', again) && v; });
