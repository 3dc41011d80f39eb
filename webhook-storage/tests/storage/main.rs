//! The storage as its users see it. PostgreSQL is tested when
//! `TEST_POSTGRES_URL` names a server, each test in a schema of its own.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod claims;
mod commits;
mod conformance;
mod crash;
mod databases;
mod days;
mod former_shards;
mod logs;
mod nodes;
mod objects;
mod opening;
mod pools;
mod sample;
mod schemas;
mod secrets;
