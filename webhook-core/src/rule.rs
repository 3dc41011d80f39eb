//! Filtering rules of outputs (wire.md section 6).

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which webhooks pass an output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    json: serde_json::Map<String, serde_json::Value>,
}

impl Serialize for Rules {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { json: Deserialize::deserialize(deserializer)? })
    }
}
