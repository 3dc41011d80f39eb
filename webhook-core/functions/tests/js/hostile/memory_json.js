// ends: memory | compute time
JSON.parse('[' + '[],'.repeat(2e6) + '[]]');
