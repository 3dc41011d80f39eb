// ends: memory | compute time
'ab'.repeat(4e6).split('');
