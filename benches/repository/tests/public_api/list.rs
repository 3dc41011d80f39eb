//! Everything that can be reached from outside of a crate.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::Path,
};

use syn::{Item, ItemImpl, Type};

use crate::{
    render,
    source::{self, ModuleId, Source, Target, is_public},
};

/// An item by its module and its place there.
type ItemId = (ModuleId, usize);

/// Where an item is reached, and under which conditions.
type Place = (String, String);

/// The list of the crate with this name and root, a line for each thing.
pub(crate) fn of(name: &str, root: &Path) -> String {
    of_source(name, Source::read(root))
}

/// How many items the list has without a feature.
pub(crate) fn count_without(feature: &str, name: &str, root: &Path) -> usize {
    let list = of_source(name, Source::read_without(root, Some(feature)));
    list.lines().filter(|line| !line.starts_with(' ')).count()
}

fn of_source(name: &str, source: Source) -> String {
    let mut walk = Walk { source: &source, entered: HashSet::new(), reached: Reached::default() };
    walk.enter(0, name.to_owned(), String::new());
    let Walk { reached, .. } = walk;
    let implemented = implementations(&source, &reached);

    let mut lines = reached.others.clone();
    for (id, places) in &reached.items {
        let mut places = places.iter().collect::<Vec<_>>();
        places.sort_by_key(|(path, _)| (path.matches("::").count(), path.as_str()));
        let [(path, conditions), also @ ..] = &places[..] else { continue };
        let mut parts = render::lines(&source.modules[id.0].items[id.1]);
        let head = format!("{conditions}{}", parts.remove(0));
        let implemented = implemented.get(id).into_iter().flatten().cloned();
        // A type and a function may have one name.
        let own = lines.entry(path.clone()).or_default();
        own.extend([head].into_iter().chain(parts).chain(implemented));
        for (other, conditions) in also {
            let own = lines.entry(other.clone()).or_default();
            own.push(format!("{conditions}pub use {path}"));
        }
    }
    let mut list = String::new();
    for (path, parts) in lines {
        list.push_str(&format!("{path}: {}\n", parts.join("\n")));
    }
    list
}

#[derive(Default)]
struct Reached {
    items: BTreeMap<ItemId, BTreeSet<Place>>,
    /// Modules, macros and what is of other crates, by path.
    others: BTreeMap<String, Vec<String>>,
}

struct Walk<'a> {
    source: &'a Source,
    /// Modules by the path under which they were entered: a module can export itself.
    entered: HashSet<(ModuleId, String)>,
    reached: Reached,
}

impl Walk<'_> {
    /// Goes through what is public in a module that is reached under `path`.
    fn enter(&mut self, id: ModuleId, path: String, conditions: String) {
        let again =
            self.entered.iter().any(|(entered, at)| *entered == id && path.starts_with(&**at));
        if again || !self.entered.insert((id, path.clone())) {
            return;
        }
        self.reached.others.insert(path.clone(), vec![format!("{conditions}pub mod")]);
        self.export(id, &path);
    }

    fn export(&mut self, id: ModuleId, path: &str) {
        let module = &self.source.modules[id];
        for (index, item) in module.items.iter().enumerate() {
            if let Item::Macro(item) = item
                && item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"))
                && let Some(name) = &item.ident
            {
                self.reached.others.insert(format!("{path}::{name}!"), vec!["macro".to_owned()]);
            }
            if is_seen(item)
                && let Some(name) = source::name(item)
            {
                self.reach((id, index), format!("{path}::{name}"), String::new());
            }
        }
        for child in module.children.iter().filter(|child| child.public) {
            let conditions = render::conditions(&child.attributes);
            self.enter(child.id, format!("{path}::{}", child.name), conditions);
        }
        for import in module.imports.iter().filter(|import| import.public) {
            let conditions = render::conditions(&import.attributes);
            for target in self.source.resolve(&import.path, id) {
                match (target, &import.name) {
                    (Target::Module(target), Some(name)) => {
                        self.enter(target, format!("{path}::{name}"), conditions.clone());
                    }
                    (Target::Module(target), None) => self.export(target, path),
                    (Target::Item(module, index), Some(name)) => {
                        if is_seen(&self.source.modules[module].items[index]) {
                            self.reach(
                                (module, index),
                                format!("{path}::{name}"),
                                conditions.clone(),
                            );
                        }
                    }
                    (Target::Item(..), None) => {}
                    (Target::Foreign, name) => {
                        let name = name.as_deref().unwrap_or("*");
                        let of = import.path.join("::");
                        let line = format!("{conditions}pub use {of}");
                        self.reached.others.insert(format!("{path}::{name}"), vec![line]);
                    }
                }
            }
        }
    }

    fn reach(&mut self, item: ItemId, path: String, conditions: String) {
        self.reached.items.entry(item).or_default().insert((path, conditions));
    }
}

/// What is implemented for items that are reached, wherever that stands; a trait that
/// cannot be reached tells nobody anything.
fn implementations(source: &Source, reached: &Reached) -> HashMap<ItemId, Vec<String>> {
    let mut lines: HashMap<ItemId, Vec<String>> = HashMap::new();
    for (module, item) in source
        .modules
        .iter()
        .enumerate()
        .flat_map(|(id, module)| module.items.iter().map(move |item| (id, item)))
    {
        let Item::Impl(item) = item else { continue };
        let for_whom = type_path(&item.self_ty).map(|path| source.resolve(&path, module));
        let targets = for_whom.unwrap_or_default();
        for target in targets {
            if let Target::Item(at, index) = target
                && reached.items.contains_key(&(at, index))
                && is_known(source, reached, item, module)
            {
                lines.entry((at, index)).or_default().extend(render::implementation(item));
            }
        }
    }
    for lines in lines.values_mut() {
        lines.sort_by_key(|line| (line.trim_start().starts_with("impl"), line.clone()));
    }
    lines
}

/// Whether an implementation is inherent, or of a trait that is reached.
fn is_known(source: &Source, reached: &Reached, item: &ItemImpl, module: ModuleId) -> bool {
    let Some((_, path, _)) = &item.trait_ else { return true };
    let path: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    source.resolve(&path, module).iter().all(|target| match target {
        Target::Item(module, index) => reached.items.contains_key(&(*module, *index)),
        _ => true,
    })
}

fn type_path(ty: &Type) -> Option<Vec<String>> {
    let Type::Path(ty) = ty else { return None };
    Some(ty.path.segments.iter().map(|segment| segment.ident.to_string()).collect())
}

fn is_seen(item: &Item) -> bool {
    match item {
        Item::Const(item) => is_public(&item.vis),
        Item::Enum(item) => is_public(&item.vis),
        Item::Fn(item) => is_public(&item.vis),
        Item::Static(item) => is_public(&item.vis),
        Item::Struct(item) => is_public(&item.vis),
        Item::Trait(item) => is_public(&item.vis),
        Item::Type(item) => is_public(&item.vis),
        Item::Union(item) => is_public(&item.vis),
        _ => false,
    }
}
