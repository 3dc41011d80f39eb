// ends: line
function transform(r) { if (r) {
