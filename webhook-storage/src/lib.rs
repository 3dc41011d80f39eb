//! webhook-storage
