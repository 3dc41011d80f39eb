// ends: well
Error.prepareStackTrace = (e, frames) => frames[0].getFunction();
new Error('x').stack; r;
