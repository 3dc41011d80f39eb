//! Tables and other values as trees of plain data, and back.

use piccolo::{Context, Function, Table, Value};
use serde_json::{Map, Number, Value as Tree};

use super::{Null, building::Building};
use crate::{
    lua::{
        bytes::number::{self, Number as LuaNumber},
        vm::host::Host,
    },
    modules::{Bounds, MAX_DEPTH, ModuleError},
};

/// What a table is written as.
pub(super) enum Shape<'gc> {
    /// The values from 1 to the length, without a gap.
    List(i64),
    /// The pairs, ordered by key, so that the same table is always written the same.
    Object(Pairs<'gc>),
}

/// The pairs of a table, and what the list of them is charged.
pub(super) struct Pairs<'gc> {
    pub(super) pairs: Vec<(String, Value<'gc>)>,
    pub(super) charged: usize,
}

/// With nothing but indices of at most this, or of at most twice their number, a
/// table is a list; with larger ones it is an object of numbered things.
const SHORT_LIST: i64 = 10;

/// Lists have the keys 1 to n and no others. The empty table is a list, unless
/// it was decoded from an object.
///
/// # Errors
/// When a list has holes, a key is no text, or there is no room or time.
pub(super) fn shape<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    bounds: &mut Bounds,
) -> Result<Shape<'gc>, ModuleError> {
    // A table whose values are gone may still take long to look through.
    bounds.check_time()?;
    let length = table.length();
    let mut count = 0_i64;
    let mut list = true;
    // The largest index, while all keys are indices.
    let mut last = Some(0);
    for (key, _) in table {
        count += 1;
        list = list && matches!(key, Value::Integer(index) if (1..=length).contains(&index));
        last = match (last, key) {
            (Some(last), Value::Integer(index)) if index > 0 => Some(index.max(last)),
            _ => None,
        };
    }
    if count == 0 && is_marked(host, ctx, table) {
        return Ok(Shape::Object(Pairs { pairs: Vec::new(), charged: 0 }));
    }
    if list && count == length {
        return Ok(Shape::List(length));
    }
    if let Some(last) = last.filter(|last| *last <= count.saturating_mul(2).max(SHORT_LIST)) {
        // Whatever would be written, the receiver would miss something.
        let mut indices = 1..=last;
        let hole = indices.find(|index| table.get_value(Value::Integer(*index)).is_nil());
        let hole = hole.unwrap_or(last);
        return Err(ModuleError::invalid(format!(
            "a list with holes, index {hole} of {last} is nil (json.null stands for null)"
        )));
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut charged = count.saturating_mul(size_of::<(String, Value<'gc>)>());
    bounds.take(charged)?;
    let mut pairs = Vec::with_capacity(count);
    for (key, value) in table {
        let key = match key {
            Value::String(key) => key.to_str_lossy().into_owned(),
            Value::Integer(key) => key.to_string(),
            Value::Number(key) => {
                let text = number::to_text(LuaNumber::Float(key));
                String::from_utf8_lossy(&text).into_owned()
            }
            other => {
                let kind = other.type_name();
                return Err(ModuleError::invalid(format!("a {kind} cannot be a key")));
            }
        };
        bounds.take(key.len())?;
        charged += key.len();
        pairs.push((key, value));
    }
    pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(Shape::Object(Pairs { pairs, charged }))
}

fn is_marked<'gc>(host: &Host, ctx: Context<'gc>, table: Table<'gc>) -> bool {
    let mark = host.tables.get().map(|tables| ctx.fetch(&tables.object));
    mark.is_some() && table.metatable() == mark
}

/// Makes an empty table that is written as an object.
pub(super) fn mark_object<'gc>(host: &Host, ctx: Context<'gc>, table: Table<'gc>) {
    if let Some(tables) = host.tables.get() {
        table.set_metatable(&ctx, Some(ctx.fetch(&tables.object)));
    }
}

/// Whether a value is `json.null`.
pub(super) fn is_null(value: Value<'_>) -> bool {
    matches!(value, Value::UserData(data) if data.is_static::<Null>())
}

/// `json.null`
pub(super) fn null<'gc>(host: &Host, ctx: Context<'gc>) -> Value<'gc> {
    host.tables.get().map_or(Value::Nil, |tables| ctx.fetch(&tables.null).into())
}

pub(super) fn unencodable(value: Value<'_>) -> ModuleError {
    let kind = match value {
        Value::Function(Function::Closure(_) | Function::Callback(_)) => "function",
        other => other.type_name(),
    };
    ModuleError::invalid(format!("a {kind} cannot be encoded"))
}

pub(super) fn too_deep() -> ModuleError {
    ModuleError::invalid(format!("more than {MAX_DEPTH} tables inside one another, or a circle"))
}

pub(super) fn from_lua<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    value: Value<'gc>,
    bounds: &mut Bounds,
) -> Result<Tree, ModuleError> {
    convert(host, ctx, value, 0, bounds)
}

fn convert<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    value: Value<'gc>,
    depth: usize,
    bounds: &mut Bounds,
) -> Result<Tree, ModuleError> {
    bounds.value()?;
    Ok(match value {
        Value::Nil => Tree::Null,
        Value::Boolean(value) => Tree::Bool(value),
        Value::Integer(value) => Tree::from(value),
        Value::Number(value) => Number::from_f64(value)
            .map(Tree::Number)
            .ok_or_else(|| ModuleError::invalid("NaN and infinity cannot be encoded"))?,
        Value::String(text) => {
            bounds.text(text.as_bytes().len())?;
            Tree::String(text.to_str_lossy().into_owned())
        }
        Value::Table(table) => {
            if depth >= MAX_DEPTH {
                return Err(too_deep());
            }
            match shape(host, ctx, table, bounds)? {
                Shape::List(length) => {
                    let items = (1..=length).map(|index| {
                        let item = table.get_value(Value::Integer(index));
                        convert(host, ctx, item, depth + 1, bounds)
                    });
                    Tree::Array(items.collect::<Result<_, _>>()?)
                }
                Shape::Object(Pairs { pairs, charged }) => {
                    let mut fields = Map::new();
                    for (key, value) in pairs {
                        bounds.field(fields.is_empty(), key.len())?;
                        fields.insert(key, convert(host, ctx, value, depth + 1, bounds)?);
                    }
                    bounds.give(charged);
                    Tree::Object(fields)
                }
            }
        }
        value if is_null(value) => Tree::Null,
        other => return Err(unencodable(other)),
    })
}

/// A tree as tables; its depth is bounded by what made it. The tree goes as
/// the tables come.
pub(super) fn to_lua<'gc>(
    building: &mut Building<'gc, '_>,
    tree: Tree,
) -> Result<Value<'gc>, ModuleError> {
    Ok(match tree {
        Tree::Null => null(building.host, building.ctx),
        Tree::Bool(value) => Value::Boolean(value),
        Tree::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Value::Integer(value),
            (None, Some(value)) => Value::Number(value),
            (None, None) => Value::Nil,
        },
        Tree::String(text) => building.owned(text)?,
        Tree::Array(items) => {
            let table = building.table()?;
            for (index, item) in (1..).zip(items) {
                let item = to_lua(building, item)?;
                building.put(table, Value::Integer(index), item)?;
            }
            table.into()
        }
        Tree::Object(fields) => {
            let table = building.table()?;
            if fields.is_empty() {
                mark_object(building.host, building.ctx, table);
            }
            for (key, value) in fields {
                let (key, value) = (building.text(key.as_bytes())?, to_lua(building, value)?);
                building.put(table, key, value)?;
            }
            table.into()
        }
    })
}
