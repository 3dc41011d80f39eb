//! Programs that show how to embed the relay; each opens with the command that
//! runs it. The tests of this package run every one of them.
