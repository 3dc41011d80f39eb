//! The modules of a crate, from its files, and what a path in one of them means.

use std::{
    fs,
    path::{Path, PathBuf},
};

use quote::ToTokens;
use syn::{
    Attribute, File, Ident, Item, ItemMod, Meta, Token, UseTree, Visibility, punctuated::Punctuated,
};

/// A module by its place in [`Source::modules`].
pub(crate) type ModuleId = usize;

/// A path from one module to another is followed through at most so many imports.
const MOST_STEPS: usize = 16;

/// A crate's modules; the first is its root.
pub(crate) struct Source {
    pub(crate) modules: Vec<Module>,
    /// A condition that does not hold, as `test` does not.
    absent: Option<String>,
}

pub(crate) struct Module {
    parent: Option<ModuleId>,
    pub(crate) items: Vec<Item>,
    pub(crate) children: Vec<Child>,
    pub(crate) imports: Vec<Import>,
}

pub(crate) struct Child {
    pub(crate) name: String,
    pub(crate) id: ModuleId,
    pub(crate) public: bool,
    pub(crate) attributes: Vec<Attribute>,
}

/// One name that a `use` brings.
pub(crate) struct Import {
    /// None for a glob.
    pub(crate) name: Option<String>,
    pub(crate) path: Vec<String>,
    pub(crate) public: bool,
    pub(crate) attributes: Vec<Attribute>,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Module(ModuleId),
    Item(ModuleId, usize),
    /// Something of another crate.
    Foreign,
}

impl Source {
    /// The crate whose root is this file.
    pub(crate) fn read(root: &Path) -> Self {
        Self::read_without(root, None)
    }

    /// The crate without everything that needs this feature.
    pub(crate) fn read_without(root: &Path, feature: Option<&str>) -> Self {
        let absent = feature.map(|feature| format!("feature = {feature:?}"));
        let mut source = Self { modules: Vec::new(), absent };
        let folder = root.parent().expect("a folder").to_owned();
        source.add(None, parse(root).items, &folder);
        source
    }

    fn add(&mut self, parent: Option<ModuleId>, items: Vec<Item>, folder: &Path) -> ModuleId {
        let id = self.modules.len();
        let (children, imports) = (Vec::new(), Vec::new());
        self.modules.push(Module { parent, items: Vec::new(), children, imports });
        for item in items {
            match item {
                Item::Mod(module) if self.has(&module.attrs) => self.add_child(id, module, folder),
                Item::Mod(_) => {}
                Item::Use(item) if !self.has(&item.attrs) => {}
                Item::Use(item) => {
                    let public = is_public(&item.vis);
                    flatten(item.tree, Vec::new(), &mut |name, path| {
                        let attributes = item.attrs.clone();
                        let import = Import { name, path, public, attributes };
                        self.modules[id].imports.push(import);
                    });
                }
                item => self.modules[id].items.push(item),
            }
        }
        id
    }

    fn add_child(&mut self, parent: ModuleId, module: ItemMod, folder: &Path) {
        let ItemMod { ident, content, vis, attrs, .. } = module;
        let (name, own) = (ident.to_string(), folder.join(ident.to_string()));
        let items = match content {
            Some((_, items)) => items,
            None => {
                let files: [PathBuf; 2] = [folder.join(format!("{name}.rs")), own.join("mod.rs")];
                let file = files.iter().find(|file| file.exists());
                parse(file.unwrap_or_else(|| panic!("no file of {}", own.display()))).items
            }
        };
        let id = self.add(Some(parent), items, &own);
        let child = Child { name, id, public: is_public(&vis), attributes: attrs };
        self.modules[parent].children.push(child);
    }

    /// Whether something with these attributes is in the crate.
    fn has(&self, attributes: &[Attribute]) -> bool {
        let absent = self.absent.as_deref();
        !is_test(attributes) && !absent.is_some_and(|absent| is_under(attributes, absent))
    }

    /// The path of a module below the root, which is empty.
    pub(crate) fn path_of(&self, id: ModuleId) -> String {
        let Some(parent) = self.modules[id].parent else { return String::new() };
        let own = self.modules[parent].children.iter().find(|child| child.id == id);
        let name = own.map_or_else(String::new, |child| child.name.clone());
        let above = self.path_of(parent);
        if above.is_empty() { name } else { format!("{above}::{name}") }
    }

    /// What a path means in a module: several things when a name stands for a type and
    /// for a function.
    pub(crate) fn resolve(&self, path: &[String], from: ModuleId) -> Vec<Target> {
        self.resolve_within(path, from, true, MOST_STEPS)
    }

    fn resolve_within(
        &self,
        path: &[String],
        from: ModuleId,
        first: bool,
        steps: usize,
    ) -> Vec<Target> {
        let [name, rest @ ..] = path else { return vec![Target::Module(from)] };
        let Some(steps) = steps.checked_sub(1) else { return Vec::new() };
        let relative = match &**name {
            "crate" => Some(0),
            "self" => Some(from),
            "super" => Some(self.modules[from].parent.expect("a module above")),
            _ => None,
        };
        if let Some(module) = relative {
            return self.resolve_within(rest, module, first, steps);
        }
        let found = self.look_up(name, from, steps);
        match (rest, found.is_empty()) {
            ([], false) => found,
            (_, true) if first => vec![Target::Foreign],
            (_, true) => Vec::new(),
            (rest, false) => {
                let each = found.into_iter().flat_map(|target| match target {
                    Target::Module(id) => self.resolve_within(rest, id, false, steps),
                    Target::Foreign => vec![Target::Foreign],
                    // A variant, or what an implementation adds.
                    Target::Item(..) => Vec::new(),
                });
                each.collect()
            }
        }
    }

    fn look_up(&self, name: &str, module: ModuleId, steps: usize) -> Vec<Target> {
        let Module { items, children, imports, .. } = &self.modules[module];
        let own = children.iter().filter(|child| child.name == name);
        let mut found: Vec<_> = own.map(|child| Target::Module(child.id)).collect();
        let named = items
            .iter()
            .enumerate()
            .filter(|(_, item)| self::name(item).is_some_and(|ident| ident == name));
        found.extend(named.map(|(index, _)| Target::Item(module, index)));
        let imported = imports.iter().filter(|import| import.name.as_deref() == Some(name));
        for import in imported {
            // `use http;` names what it imports: another crate.
            let is_itself = import.path.len() == 1 && import.path[0] == name;
            match is_itself {
                true => found.push(Target::Foreign),
                false => found.extend(self.resolve_within(&import.path, module, true, steps)),
            }
        }
        if found.is_empty() {
            for glob in imports.iter().filter(|import| import.name.is_none()) {
                for target in self.resolve_within(&glob.path, module, true, steps) {
                    if let Target::Module(id) = target
                        && id != module
                    {
                        found.extend(self.look_up(name, id, steps.saturating_sub(1)));
                    }
                }
            }
        }
        found.dedup();
        found
    }
}

fn parse(file: &Path) -> File {
    let text = fs::read_to_string(file).unwrap_or_else(|_| panic!("{} is there", file.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn flatten(
    tree: UseTree,
    mut before: Vec<String>,
    each: &mut impl FnMut(Option<String>, Vec<String>),
) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(*path.tree, before, each);
        }
        UseTree::Name(name) if name.ident == "self" => each(before.last().cloned(), before),
        UseTree::Name(name) => {
            before.push(name.ident.to_string());
            each(before.last().cloned(), before);
        }
        UseTree::Rename(rename) => {
            if rename.ident != "self" {
                before.push(rename.ident.to_string());
            }
            each(Some(rename.rename.to_string()), before);
        }
        UseTree::Glob(_) => each(None, before),
        UseTree::Group(group) => {
            group.items.into_iter().for_each(|tree| flatten(tree, before.clone(), each));
        }
    }
}

pub(crate) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether something is there for the crate's own tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    is_under(attributes, "test")
}

/// Whether an item with these attributes needs this condition.
fn is_under(attributes: &[Attribute], condition: &str) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args().is_ok_and(|given| needs(&given, condition))
    })
}

/// Whether `given` holds only with `condition`: it is the same, or `all` with it.
fn needs(given: &Meta, condition: &str) -> bool {
    match given {
        Meta::List(list) if list.path.is_ident("all") => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            parts.is_ok_and(|parts| parts.iter().any(|part| needs(part, condition)))
        }
        _ => given.to_token_stream().to_string() == condition,
    }
}

/// Whether only the crate's own tests use an item.
pub(crate) fn is_test_item(item: &Item) -> bool {
    match item {
        Item::Const(item) => is_test(&item.attrs),
        Item::Fn(item) => is_test(&item.attrs),
        Item::Impl(item) => is_test(&item.attrs),
        Item::Struct(item) => is_test(&item.attrs),
        Item::Static(item) => is_test(&item.attrs),
        _ => false,
    }
}

/// The name of an item that a path can lead to.
pub(crate) fn name(item: &Item) -> Option<&Ident> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident)
}
