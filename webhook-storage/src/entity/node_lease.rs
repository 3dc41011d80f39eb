//! How long each node is known to be alive.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "node_lease")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) node_id: Uuid,
    pub(crate) until: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
