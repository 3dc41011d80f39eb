// ends: function: | Error
await import('os');
