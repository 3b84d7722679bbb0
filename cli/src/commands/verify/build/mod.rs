//! `kernrec verify build`: a build against the digests kept beside the sources, or against another build.
//!
//! Beside being the same, what was built must run where it is meant to: nothing may need a newer C library than
//! the floor, or be linked against CUPTI or the CUDA driver.

mod elf;
mod expected;

use self::elf::{Floor, Image};
use self::expected::{Expected, Known};
use super::verdict;
use crate::args::verify::BuildArgs;
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, text, texts};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_store::artifact;
use kernrec_store::fsio::FsError;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

/// No file of a build comes near it.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// The digests that this program was built with.
const BUILT_IN: &str = include_str!("../../../../../recorder/digests.txt");

/// How the file of digests is made anew.
const RECORD: &str = "scripts/cross-build.sh --libraries --record";

pub(crate) fn run(args: &BuildArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let floor: Floor = args.glibc.parse().map_err(CommandError::usage)?;
    let files = images(&args.dir)?;
    if let Some(path) = &args.record {
        return record(path, &files, &floor, args.json, shell);
    }
    let (found, hint) = if let Some(other) = &args.other {
        (against(&files, &images(other)?, &floor), None)
    } else {
        let expected = expected(args.expect.as_deref())?;
        let hint =
            format!("where the recorder's sources changed, `{RECORD}` writes the digests anew");
        (expecting(&files, &expected, &floor), Some(hint))
    };
    let same = found.iter().all(Found::is_good);
    shell.summary(&summary(&found, same), Form::of_flag(args.json))?;
    let as_expected = found.iter().all(Found::is_as_expected);
    if let (false, Some(hint)) = (as_expected, hint) {
        shell.note(format!("hint: {hint}"));
    }
    Ok(verdict(same))
}

/// What was found of one file.
struct Found {
    name: String,
    verdict: Verdict,
    digest: String,
    newest_glibc: String,
    unportable: Vec<String>,
}

enum Verdict {
    Same,
    /// In these sections, or parts outside any.
    Differs(Vec<String>),
    Missing,
    OnlyInA,
    OnlyInB,
    /// Nothing to compare it with.
    NotCompared,
}

impl Verdict {
    const fn shown(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differs(_) => "different",
            Self::Missing => "missing",
            Self::OnlyInA => "only-in-a",
            Self::OnlyInB => "only-in-b",
            Self::NotCompared => "not-compared",
        }
    }
}

impl Found {
    fn of(name: &str, image: &Image, verdict: Verdict, floor: &Floor) -> Self {
        Self {
            name: name.to_owned(),
            verdict,
            digest: image.digests.blake3.to_string(),
            newest_glibc: image
                .newest_glibc()
                .map_or(String::new(), ToString::to_string),
            unportable: image.unportable(floor),
        }
    }

    fn absent(name: &str, verdict: Verdict) -> Self {
        Self {
            name: name.to_owned(),
            verdict,
            digest: String::new(),
            newest_glibc: String::new(),
            unportable: Vec::new(),
        }
    }

    fn is_good(&self) -> bool {
        self.unportable.is_empty() && self.is_as_expected()
    }

    const fn is_as_expected(&self) -> bool {
        matches!(self.verdict, Verdict::Same | Verdict::NotCompared)
    }
}

/// The files of a build's folder, by name.
fn images(folder: &Path) -> Result<BTreeMap<String, Image>, CommandError> {
    let mut found = BTreeMap::new();
    for entry in fs_err::read_dir(folder).map_err(FsError::on("list", folder))? {
        let path = entry.map_err(FsError::on("list", folder))?.path();
        if !path.is_file() {
            continue;
        }
        let Some(name) = path.file_name() else {
            continue;
        };
        let mut bytes = Vec::new();
        artifact::open(&path)?
            .take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(FsError::on("read", &path))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let problem = format!("`{}` has more than {MAX_FILE_BYTES} bytes", path.display());
            return Err(CommandError::failed("too-large", problem));
        }
        let image = Image::read(&bytes).map_err(|error| {
            CommandError::failed("bad-elf", format!("read `{}`: {error}", path.display()))
        })?;
        found.insert(name.to_string_lossy().into_owned(), image);
    }
    if found.is_empty() {
        let problem = format!("`{}` holds no file", folder.display());
        return Err(CommandError::refused("nothing-built", problem));
    }
    Ok(found)
}

fn expected(path: Option<&Path>) -> Result<Expected, CommandError> {
    let Some(path) = path else {
        return Expected::parse(BUILT_IN)
            .map_err(|problem| CommandError::failed("bad-digests", problem));
    };
    let bad = |problem: String| {
        let path = path.display();
        CommandError::failed("bad-digests", format!("read `{path}`: {problem}"))
    };
    let content = artifact::read(path, MAX_SMALL_BYTES)?;
    let content = String::from_utf8(content).map_err(|_| bad("it is not UTF-8".to_owned()))?;
    Expected::parse(&content).map_err(bad)
}

fn expecting(files: &BTreeMap<String, Image>, expected: &Expected, floor: &Floor) -> Vec<Found> {
    let names: BTreeSet<&String> = files.keys().chain(expected.files.keys()).collect();
    let one = |name: &String| match (files.get(name), expected.files.get(name)) {
        (Some(image), Some(known)) => Found::of(name, image, compare(image, known), floor),
        (Some(image), None) => Found::of(name, image, Verdict::NotCompared, floor),
        _ => Found::absent(name, Verdict::Missing),
    };
    names.into_iter().map(one).collect()
}

fn against(
    files: &BTreeMap<String, Image>,
    others: &BTreeMap<String, Image>,
    floor: &Floor,
) -> Vec<Found> {
    let names: BTreeSet<&String> = files.keys().chain(others.keys()).collect();
    let one = |name: &String| match (files.get(name), others.get(name)) {
        (Some(image), Some(other)) => {
            Found::of(name, image, compare(image, &Known::of(other)), floor)
        }
        (Some(image), None) => Found::of(name, image, Verdict::OnlyInA, floor),
        _ => Found::absent(name, Verdict::OnlyInB),
    };
    names.into_iter().map(one).collect()
}

fn compare(image: &Image, known: &Known) -> Verdict {
    if image.digests == known.digests {
        return Verdict::Same;
    }
    let names: BTreeSet<&String> = image.sections.keys().chain(known.sections.keys()).collect();
    let mut differing: Vec<String> = names
        .into_iter()
        .filter(|name| image.sections.get(*name) != known.sections.get(*name))
        .cloned()
        .collect();
    if differing.is_empty() {
        differing.push(elf::OUTSIDE.to_owned());
    }
    Verdict::Differs(differing)
}

/// Writes the digests of the libraries, which are the files that are meant to stay the same for long.
fn record(
    path: &Path,
    files: &BTreeMap<String, Image>,
    floor: &Floor,
    json: bool,
    shell: &mut Shell,
) -> Result<Exit, CommandError> {
    let libraries: BTreeMap<&String, &Image> = files
        .iter()
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|end| end == "so"))
        .collect();
    if libraries.is_empty() {
        return Err(CommandError::refused(
            "nothing-built",
            "there is no library to record",
        ));
    }
    let found: Vec<Found> = libraries
        .iter()
        .map(|(name, image)| Found::of(name, image, Verdict::NotCompared, floor))
        .collect();
    let good = found.iter().all(Found::is_good);
    shell.summary(&summary(&found, good), Form::of_flag(json))?;
    if good {
        artifact::write(path, expected::render(&libraries, RECORD).as_bytes())?;
    }
    Ok(verdict(good))
}

fn summary(found: &[Found], same: bool) -> Summary {
    let title = if same {
        "the build is what it should be"
    } else {
        "the build is NOT what it should be"
    };
    let mut summary = Summary::new("verify-build", title);
    summary.fact("same", same);
    let columns = &[
        "file",
        "verdict",
        "differs_in",
        "newest_glibc",
        "unportable",
        "digest",
    ];
    let mut section = Section::new("files", "file by file", columns, usize::MAX);
    for found in found {
        let sections: &[String] = match &found.verdict {
            Verdict::Differs(sections) => sections,
            _ => &[],
        };
        section.row([
            text(&found.name),
            text(found.verdict.shown()),
            texts(sections),
            text(&found.newest_glibc),
            texts(&found.unportable),
            text(&found.digest),
        ]);
    }
    summary.section(section);
    summary
}
