//! Tests over several modules: the goldens that real Lua and Go wrote, bounds and properties.

mod bounds;
mod cases;
mod go_layouts;
mod goldens;
mod properties;
mod zones;
