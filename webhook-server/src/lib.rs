//! webhook-server
