export default {
  input: '../openapi.json',
  // Node.js wants the whole name of what is imported.
  output: { path: 'client', importFileExtension: '.js' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
};
