//! Writing loops: lists mapped element by element, and objects made of lists.

use super::super::program::{Expr, Filter, FromPairs, Loop, Map, Over, Test};
use super::writer::{ScopeNames, Writer};
use super::{Dialect, comments, identifiers, indented, may_be_absent};

impl<D: Dialect> Writer<'_, D> {
    pub(super) fn map(&mut self, map: &Map, name: &str, level: usize) -> String {
        let comment = comments::of_loops(name, &map.loops, &self.scope_names());
        let list = self.hoist(name, self.dialect.empty_list(), Some(comment));
        let numbered = uses_position(&map.body, self.scopes.len() + map.loops.len() - 1);
        let mut closes = 0;
        for (index, looped) in map.loops.iter().enumerate() {
            closes += self.open_loop(looped, numbered && index + 1 == map.loops.len());
        }
        let value = self.expr(&map.body, &format!("{list}_value"), level + 1);
        let push = match may_be_absent(&map.body) {
            true => {
                let append = self.call("append", &[&list, &value]);
                self.dialect.run(&append)
            }
            false => self.dialect.push(&list, &value),
        };
        self.statement(push);
        self.close_loops(closes, map.loops.len());
        list
    }

    /// Opens the loop and its filter; gives the number of blocks opened.
    fn open_loop(&mut self, looped: &Loop, numbered: bool) -> usize {
        let source = self.path(&looped.source);
        let item = self.identifiers.fresh(&identifiers::singular(&looped.source), "item");
        let mut names = ScopeNames::of(&item);
        match looped.over {
            Over::Items => {
                if numbered {
                    names.position = Some(self.identifiers.fresh("index", "index"));
                }
                let list = match &looped.order {
                    None => self.call("list", &[&source]),
                    Some(order) => {
                        let field = self.dialect.text(&order.field);
                        let descending = if order.descending { "true" } else { "false" };
                        self.call("sorted", &[&source, &field, descending])
                    }
                };
                let line = self.dialect.for_items(&item, names.position.as_deref(), &list);
                self.statement(line);
                self.blocks.push(Vec::new());
            }
            Over::Fields | Over::SortedFields => {
                let key = self.identifiers.fresh("key", "key");
                let value = self.identifiers.fresh("value", "value");
                self.helpers.insert("fields");
                let mut lines = self
                    .dialect
                    .for_fields(&key, &value, &source, looped.over == Over::SortedFields)
                    .into_iter();
                self.statement(lines.next().unwrap_or_default());
                self.blocks.push(lines.collect());
                names.entry = Some((key, value));
            }
        }
        self.scopes.push(names);
        let Some(Filter { path, test }) = &looped.filter else { return 1 };
        let value = self.path(path);
        let condition = match test {
            Test::Equals(wanted) => {
                self.dialect.equals(&value, &self.dialect.constant(wanted), false)
            }
            Test::Differs(unwanted) => {
                self.dialect.equals(&value, &self.dialect.constant(unwanted), true)
            }
            Test::Present => self.dialect.present(&value),
            Test::Positive => self.call("is_positive", &[&value]),
        };
        let line = self.dialect.condition(&condition);
        self.statement(line);
        self.blocks.push(Vec::new());
        2
    }

    fn close_loops(&mut self, blocks: usize, scopes: usize) {
        for _ in 0..blocks {
            let inner = self.blocks.pop().unwrap_or_default();
            for statement in inner {
                self.statement(format!("  {}", indented(&statement)));
            }
            self.statement(self.dialect.close().to_owned());
        }
        for _ in 0..scopes {
            let Some(ScopeNames { item, position, entry }) = self.scopes.pop() else { continue };
            let (key, value) = entry.unzip();
            for name in [Some(item), position, key, value].into_iter().flatten() {
                self.identifiers.release(&name);
            }
        }
    }

    pub(super) fn keyed(&mut self, pairs: &FromPairs, name: &str, level: usize) -> String {
        let looped =
            Loop { source: pairs.list.clone(), over: Over::Items, filter: None, order: None };
        let comment = comments::of_pairs(name, &pairs.list, &self.scope_names());
        let object = self.hoist(name, "{}", Some(comment));
        let closes = self.open_loop(&looped, false);
        let key = self.expr(&pairs.key, "key", level + 1);
        let key = self.call("text", &[&key]);
        let value = self.expr(&pairs.value, "value", level + 1);
        let variable = self.identifiers.fresh("name", "name");
        let local = self.dialect.local(&variable, &key);
        self.statement(local);
        let condition = self.dialect.equals(&variable, &self.dialect.text(""), true);
        let open = self.dialect.condition(&condition);
        self.statement(open);
        let set = self.dialect.set(&object, &variable, &value);
        self.statement(format!("  {}", indented(&set)));
        self.statement(self.dialect.close().to_owned());
        self.close_loops(closes, 1);
        object
    }
}

fn uses_position(expr: &Expr, of_scope: usize) -> bool {
    matches!(expr, Expr::Position { scope, .. } if *scope == of_scope)
        || expr.children().into_iter().any(|child| uses_position(child, of_scope))
}
