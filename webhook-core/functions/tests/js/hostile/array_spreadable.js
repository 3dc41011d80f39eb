// ends: arrays of more | compute time
const like = { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true };
[].concat(like);
