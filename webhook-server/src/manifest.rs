//! The commands that keep a server's configuration in a file: `apply`, `export` and `import`
//! (`docs/manifest.md`). [`webhook_manifest`] reads, writes and compares; this talks to the server
//! and to files.

mod answers;
mod carry_out;
mod secrets;

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use webhook_core::model::Secret;
use webhook_manifest::{
    Format, Known, MAX_BYTES, Manifest, Plan, Sealed, Sources,
    import::{Service, import},
    is_mask,
};

use crate::{
    agent::{Access, lines, one_line},
    failure::Failure,
    print::print,
};

/// Makes a server have what a file says.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Apply {
    /// The manifest, YAML or JSON; - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Shows what would be done, and does nothing.
    #[arg(long)]
    dry_run: bool,
    /// Deletes, of each list that the manifest has, what is not in it.
    #[arg(long)]
    prune: bool,
    /// Allows outputs that lead webhooks back into their own bucket.
    #[arg(long)]
    allow_loops: bool,
    /// A file of variables, NAME=value on each line. A file .env in the folder of the
    /// manifest is read as well; --secrets comes first.
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
    /// Lets the manifest have this variable of the environment; may be given more than once. It has
    /// no other variable of the environment.
    #[arg(long = "secret", value_name = "NAME")]
    allowed: Vec<String>,
    #[command(flatten)]
    access: Access,
}

/// How a manifest is written.
#[derive(Clone, Debug, clap::Args)]
struct Writing {
    /// How the manifest is written.
    #[arg(long, value_name = "yaml|json", default_value = "yaml", value_parser = format)]
    format: Format,
    /// A new file for the secrets, which the manifest has variables for, readable by its owner only.
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
}

/// Prints what a server has.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Export {
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    access: Access,
}

/// Prints another service's export as a manifest.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Import {
    /// Which service.
    #[arg(value_name = "hookdeck|svix|convoy|adnanh", value_parser = service)]
    service: Service,
    /// The export; - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    writing: Writing,
}

/// `apply`
pub(crate) async fn apply(options: Apply, key: Option<Secret>) -> Result<(), Failure> {
    let Apply { file, dry_run, prune, allow_loops, secrets, allowed, access } = options;
    let text = read(&file)?;
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let mut variables = match folder.join(".env") {
        beside if file.as_os_str() != "-" && beside.is_file() => {
            secrets::parse(&read(&beside)?, &beside)?
        }
        _ => HashMap::new(),
    };
    if let Some(path) = secrets {
        variables.extend(secrets::parse(&read(&path)?, &path)?);
    }
    let forbidden = RefCell::new(BTreeSet::new());
    let sources = Sources {
        variable: &|name| {
            let of_file = variables.get(name).cloned();
            of_file.or_else(|| match allowed.iter().any(|allowed| allowed == name) {
                true => of_environment(name),
                false => {
                    if of_environment(name).is_some() {
                        forbidden.borrow_mut().insert(format!("--secret {name}"));
                    }
                    None
                }
            })
        },
        file: &|path| read(&folder.join(path)).map_err(|failure| failure.to_string()),
    };
    let at_fault =
        |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", file.display()));
    let manifest = Manifest::read(&text, &sources).map_err(|error| {
        let forbidden: Vec<_> = forbidden.take().into_iter().collect();
        match forbidden.is_empty() {
            true => at_fault(&error),
            false => at_fault(&format!(
                "{error}; the environment has some of them: {} lets the manifest have them",
                forbidden.join(" ")
            )),
        }
    })?;
    let api = access.api(key)?;
    let known = Known::of(answers::fetch(&api).await?).map_err(|error| at_fault(&error))?;
    let plan = Plan::between(&manifest, &known, prune).map_err(|error| at_fault(&error))?;
    print(&format!("{}\n", lines(&plan.to_string())))?;
    match dry_run {
        true => Ok(()),
        false => carry_out::carry_out(&api, plan, &known, allow_loops).await,
    }
}

/// `export`
pub(crate) async fn export(options: Export, key: Option<Secret>) -> Result<(), Failure> {
    let Export { writing, access } = options;
    let failed = |error: webhook_manifest::Error| Failure::new(error.to_string());
    let known = Known::of(answers::fetch(&access.api(key)?).await?).map_err(failed)?;
    let sealed = known.write(writing.format).map_err(failed)?;
    for note in known.notes() {
        eprintln!("not in the manifest: {}", one_line(note));
    }
    writing.put(sealed)
}

/// `import`
pub(crate) fn import_file(options: Import) -> Result<(), Failure> {
    let Import { service, file, writing } = options;
    let failed = |error| Failure::new(format!("{}: {error}", file.display()));
    let import = import(service, &read(&file)?).map_err(failed)?;
    let sealed = import.manifest.write(writing.format).map_err(failed)?;
    for line in &import.left {
        eprintln!("not carried over: {line}");
    }
    writing.put(sealed)
}

impl Writing {
    fn put(self, sealed: Sealed) -> Result<(), Failure> {
        let Sealed { text, variables } = sealed;
        for (name, _) in variables.iter().filter(|(_, value)| is_mask(value)) {
            eprintln!(
                "the server shows no more than the end of {name}: another one needs it whole"
            );
        }
        if let Some(path) = self.secrets {
            secrets::write(&path, &variables)?;
        } else if !variables.is_empty() {
            let names: Vec<_> = variables.into_iter().map(|(name, _)| name).collect();
            eprintln!("variables that the manifest needs (--secrets FILE keeps their values):");
            eprintln!("{}", names.join("\n"));
        }
        print(&text)
    }
}

#[allow(clippy::disallowed_methods, reason = "the manifest names the variables that it needs")]
fn of_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::io(format!("cannot read {}", path.display()), error);
    let mut text = String::new();
    let bound = MAX_BYTES as u64 + 1;
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().take(bound).read_to_string(&mut text),
        false => File::open(path).and_then(|file| file.take(bound).read_to_string(&mut text)),
    };
    read.map_err(failed)?;
    match text.len() > MAX_BYTES {
        true => Err(Failure::new(format!("{} is longer than {MAX_BYTES} bytes", path.display()))),
        false => Ok(text),
    }
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "yaml" => Ok(Format::Yaml),
        "json" => Ok(Format::Json),
        _ => Err(format!("{text:?} is neither yaml nor json")),
    }
}

fn service(text: &str) -> Result<Service, String> {
    match text {
        "hookdeck" => Ok(Service::Hookdeck),
        "svix" => Ok(Service::Svix),
        "convoy" => Ok(Service::Convoy),
        "adnanh" => Ok(Service::Adnanh),
        _ => Err(format!("{text:?} is none of hookdeck, svix, convoy and adnanh")),
    }
}
