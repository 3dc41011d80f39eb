//! Every page through the router, on stores in memory: what it answers, what it says, and
//! what nobody may do with it.

mod account;
mod billing;
mod changing;
mod compare;
mod content;
mod credentials;
mod erasures;
mod functions;
mod harness;
mod health;
mod idle;
mod keys;
mod lists;
mod notifications;
mod replays;
mod rules;
mod security;
mod signatures;
mod signing_in;
mod structure;
