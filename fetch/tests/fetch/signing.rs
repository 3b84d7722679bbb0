//! With a key, whoever can write the bucket cannot choose what is installed.

use crate::support::{
    World, assert_commit, assert_kept, ci, map, now, only, pointer_path, reason, table,
};
use kernrec_fetch::{BackendReport, Choice, FetchOptions, LayoutChoice, Silent, Source, Status};
use kernrec_schemas::pointer::{Pointer, UpstreamPointer};
use kernrec_schemas::{Backend, BuildNumber, Commit, Digest, Generation};
use kernrec_store::signing::{SigningKey, TrustedKeys};
use kernrec_store::upstream::{Half, Place, PutPair, file_name, put_pair};
use kernrec_store::{objects, pointers};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/signing-keys");
    PathBuf::from(keys).join(name)
}

fn key(name: &str) -> SigningKey {
    SigningKey::load(&file(&format!("{name}.pem"))).unwrap()
}

fn trusted(names: &[&str]) -> TrustedKeys {
    TrustedKeys::load(names.iter().map(|name| file(&format!("{name}.pub.pem")))).unwrap()
}

impl World {
    /// Publishes, signed by this key.
    fn publish_signed(&self, commit: &str, build: u64, name: &str) {
        self.publish(Backend::Cuda, commit, build);
        self.rewrite(|pointer| key(name).sign(pointer));
    }

    /// Writes another pointer over the one that stands there, as who can write the bucket may.
    fn rewrite(&self, change: impl FnOnce(&mut Pointer)) {
        let found = pointers::read(&self.store, &ci(), Backend::Cuda).unwrap();
        let mut pointer = found.unwrap().pointer;
        change(&mut pointer);
        fs_err::write(pointer_path(self), pointer.to_bytes()).unwrap();
    }

    fn require(&self, names: &[&str]) -> BackendReport {
        self.one_with(|options| options.require_keys = trusted(names))
    }

    fn require_offline(&self, names: &[&str]) -> BackendReport {
        let mut options = self.options();
        options.require_keys = trusted(names);
        only(kernrec_fetch::fetch(Source::Offline, &options, &Silent))
    }

    fn signed_by(&self) -> Option<String> {
        let record = self.open().unwrap().record;
        record.origin.signed_by.map(|key| key.to_string())
    }
}

#[test]
fn a_signed_record_is_installed_and_who_signed_is_remembered() {
    let world = World::new();
    world.publish_signed("aaaa", 1, "one");
    let report = world.require(&["one"]);
    assert_eq!(report.status, Status::Installed, "{report:?}");
    assert_eq!(world.signed_by().unwrap(), key("one").id().as_str());
    assert_eq!(report.pair.unwrap().signed_by, Some(key("one").id()));
    let again = world.require(&["two", "one"]);
    assert_eq!((again.status, again.bytes_received), (Status::Unchanged, 0));
    assert_eq!(world.require_offline(&["one"]).status, Status::Offline);
}

#[test]
fn nothing_but_the_key_moves_what_is_installed() {
    let world = World::new();
    world.publish_signed("aaaa", 1, "one");
    world.require(&["one"]);
    let kept = |word| {
        let report = world.require(&["one"]);
        assert_kept(&world, &report, Status::Refused, word, "aaaa");
    };
    // A record of theirs, whole and well-formed.
    world.publish(Backend::Cuda, "evil", 2);
    kept("signature-missing");
    world.rewrite(|pointer| key("two").sign(pointer));
    kept("signature-unknown-key");
    world.rewrite(|pointer| {
        let signature = pointer.signature.as_mut().unwrap();
        signature.key = key("one").id().to_string();
    });
    kept("signature-invalid");
}

#[test]
fn neither_the_past_nor_what_is_revoked_comes_back() {
    let world = World::new();
    let old = world.publish(Backend::Cuda, "aaaa", 1);
    world.publish(Backend::Cuda, "bbbb", 2);
    world.roll_back(Backend::Cuda, &old);
    world.publish(Backend::Cuda, "cccc", 3);
    world.rewrite(|pointer| key("one").sign(pointer));
    world.require(&["one"]);
    let signed = fs_err::read(pointer_path(&world)).unwrap();
    let attacks: [fn(&mut Pointer); 3] = [
        |pointer| pointer.current = pointer.history[0].record.clone(),
        |pointer| pointer.history[1].revoked = None,
        |pointer| pointer.generation = Generation(99),
    ];
    for attack in attacks {
        world.rewrite(attack);
        for choice in [Choice::Newest, Choice::Commit(Commit::new("bbbb").unwrap())] {
            let report = world.one_with(|options| {
                options.require_keys = trusted(&["one"]);
                options.choice = choice;
            });
            assert_kept(
                &world,
                &report,
                Status::Refused,
                "signature-invalid",
                "cccc",
            );
        }
        fs_err::write(pointer_path(&world), &signed).unwrap();
    }
    // Signed, and older: seen by who was there before.
    let current = pointers::read(&world.store, &ci(), Backend::Cuda)
        .unwrap()
        .unwrap();
    world.publish_signed("dddd", 4, "one");
    assert_eq!(world.require(&["one"]).status, Status::Installed);
    fs_err::write(pointer_path(&world), current.pointer.to_bytes()).unwrap();
    let report = world.require(&["one"]);
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "pointer-went-back",
        "dddd",
    );
}

#[test]
fn a_replaced_object_is_seen_by_its_digest() {
    let world = World::new();
    world.publish_signed("aaaa", 1, "one");
    let found = pointers::read(&world.store, &ci(), Backend::Cuda)
        .unwrap()
        .unwrap();
    let path = crate::support::object_path(&world, &found.pointer.current.manifest);
    fs_err::write(path, objects::compress(b"{}")).unwrap();
    let report = world.require(&["one"]);
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Failed, "object-damaged")
    );
    assert!(report.pair.is_none());
}

#[test]
fn what_was_installed_unverified_is_not_taken_for_verified() {
    let world = World::new();
    world.publish(Backend::Cuda, "evil", 1);
    world.fetch();
    // The pointer stands still; without reading it whole nobody could tell.
    let report = world.require(&["one"]);
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "signature-missing",
        "evil",
    );
    let report = world.require_offline(&["one"]);
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "signature-missing",
        "evil",
    );
    // The same record, now vouched for: nothing is downloaded, and it is verified from now on.
    world.rewrite(|pointer| key("one").sign(pointer));
    world.fetch();
    assert_eq!(world.signed_by(), None, "not asked, not verified");
    let report = world.require(&["one"]);
    assert_eq!(
        (report.status, report.bytes_received),
        (Status::Unchanged, 0)
    );
    assert!(world.signed_by().is_some());
    assert_eq!(world.require_offline(&["one"]).status, Status::Offline);
    let report = world.require_offline(&["two"]);
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "signature-unknown-key",
        "evil",
    );
}

#[test]
fn during_a_change_of_keys_either_will_do() {
    let world = World::new();
    world.publish_signed("aaaa", 1, "one");
    assert_eq!(world.require(&["one", "two"]).status, Status::Installed);
    world.publish_signed("bbbb", 2, "two");
    assert_eq!(world.require(&["one", "two"]).status, Status::Installed);
    assert_eq!(world.require(&["two"]).status, Status::Unchanged);
    let report = world.require(&["one"]);
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "signature-unknown-key",
        "bbbb",
    );
}

/// A bucket of the existing system's layout.
impl World {
    fn put_pair(&self, commit: &str, build: u64) {
        let table = table(Backend::Cuda, commit, build).to_canonical();
        let map = map(Backend::Cuda, commit, "").to_canonical();
        let halves = [(Half::Table, table.as_slice()), (Half::SymbolMap, &map)];
        let (place, commit) = (Place::of_pipeline(ci()), Commit::new(commit).unwrap());
        let put = put_pair(&self.store, &place, Backend::Cuda, &commit, halves).unwrap();
        assert_eq!(put, PutPair::Stored);
    }

    /// A pointer to a commit with this build.
    fn upstream_pointer(commit: &str, build: u64) -> UpstreamPointer {
        let table = table(Backend::Cuda, commit, build).to_canonical();
        let map = map(Backend::Cuda, commit, "").to_canonical();
        let name = |half| file_name(half, Backend::Cuda);
        UpstreamPointer {
            backend: Some(Backend::Cuda),
            commit: Commit::new(commit).unwrap(),
            build: Some(BuildNumber(build)),
            pipeline: Some(ci()),
            published_at: Some(now()),
            files: Half::ALL.map(name).to_vec(),
            generation: Some(Generation(build)),
            nonce: Some(pointers::fresh_nonce().unwrap()),
            digests: [
                (name(Half::Table), Digest::of(&table)),
                (name(Half::SymbolMap), Digest::of(&map)),
            ]
            .into(),
            signature: None,
        }
    }

    fn point(&self, pointer: &UpstreamPointer) {
        let path = self.upstream().join("latest.json");
        fs_err::write(path, pointer.to_bytes()).unwrap();
    }

    fn upstream(&self) -> PathBuf {
        self.dir.path().join("store/ci/kernrec")
    }
}

fn signed(mut pointer: UpstreamPointer) -> UpstreamPointer {
    key("one").sign(&mut pointer);
    pointer
}

#[test]
fn the_same_holds_in_the_upstream_layout() {
    let world = World::new();
    world.put_pair("aaaa", 1);
    world.point(&signed(World::upstream_pointer("aaaa", 1)));
    assert_eq!(world.require(&["one"]).status, Status::Installed);
    let again = world.require(&["one"]);
    assert_eq!((again.status, again.bytes_received), (Status::Unchanged, 0));
    let kept = |word| {
        let report = world.require(&["one"]);
        assert_kept(&world, &report, Status::Refused, word, "aaaa");
    };
    world.put_pair("evil", 2);
    let theirs = World::upstream_pointer("evil", 2);
    world.point(&theirs);
    kept("signature-missing");
    let mut by_two = theirs.clone();
    key("two").sign(&mut by_two);
    world.point(&by_two);
    kept("signature-unknown-key");
    let mut moved = signed(World::upstream_pointer("aaaa", 1));
    moved.commit = theirs.commit;
    world.point(&moved);
    kept("signature-invalid");
    let mut open = World::upstream_pointer("aaaa", 1);
    open.digests.clear();
    world.point(&signed(open));
    kept("signature-invalid");
}

#[test]
fn in_the_upstream_layout_the_files_are_those_that_were_signed_and_no_other_commit_s() {
    let world = World::new();
    world.put_pair("aaaa", 1);
    world.put_pair("bbbb", 2);
    world.point(&signed(World::upstream_pointer("bbbb", 2)));
    let commit = |commit: &str| {
        world.one_with(|options| {
            options.require_keys = trusted(&["one"]);
            options.choice = Choice::Commit(Commit::new(commit).unwrap());
        })
    };
    assert_eq!(commit("bbbb").status, Status::Installed);
    let report = commit("aaaa");
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "commit-not-signed",
        "bbbb",
    );
    // A file that is another one, whole and of the same commit.
    world.put_pair("cccc", 3);
    world.point(&signed(World::upstream_pointer("cccc", 3)));
    let table = world.upstream().join("cccc/kernel_table.json.gz");
    let other = crate::support::table(Backend::Cuda, "cccc", 4).to_canonical();
    fs_err::write(table, kernrec_store::artifact::gzip(&other)).unwrap();
    let report = world.require(&["one"]);
    assert_kept(&world, &report, Status::Failed, "object-damaged", "bbbb");
}

#[test]
fn an_unsigned_pointer_of_either_layout_is_no_way_round_a_signed_one() {
    let world = World::new();
    world.publish_signed("aaaa", 1, "one");
    world.require(&["one"]);
    world.put_pair("evil", 2);
    world.point(&World::upstream_pointer("evil", 2));
    assert_eq!(world.require(&["one"]).status, Status::Unchanged);
    fs_err::remove_file(pointer_path(&world)).unwrap();
    for layout in [LayoutChoice::Auto, LayoutChoice::Upstream] {
        let report = world.one_with(|options: &mut FetchOptions| {
            options.require_keys = trusted(&["one"]);
            options.layout = layout;
        });
        assert_kept(
            &world,
            &report,
            Status::Refused,
            "signature-missing",
            "aaaa",
        );
    }
    assert_commit(&world.open().unwrap(), "aaaa");
}
