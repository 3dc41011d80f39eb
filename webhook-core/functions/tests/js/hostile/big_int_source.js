// ends: BigInt
2n ** 1000000n;
